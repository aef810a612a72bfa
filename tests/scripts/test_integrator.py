from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts import integrator
from scripts.harness.checks import Report
from scripts.harness.servers import Target
from scripts.integration import uploads
from scripts.integration.base import Room
from scripts.integration.files import Messy, list_messy_files
from scripts.integrator import main
from tests.app.serving import served
from tests.services import POSTGRES


def part(play: Callable[[Room, Report], None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments that run only this."""
    monkeypatch.setitem(integrator.PARTS, "uploads", play)
    return ["--only", "uploads"]


@pytest.mark.acceptance(only=True)
def test_an_integrator_gets_through_the_day(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--postgres", POSTGRES])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert re.search(r"every reply is typed +ok +(\d+)/\1\n", printed)
    assert all(re.search(rf"^{name}\b", printed, re.MULTILINE) for name in integrator.PARTS), printed
    assert " skipped " not in printed or os.environ.get("REQUIRE_SERVICES") != "1", printed


def test_what_holds_is_told_with_its_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(_: Room, checks: Report) -> None:
        checks.check(True, "alive", 200)
        checks.check_all({"a": True, "b": True}, "files")
        checks.skipped["replicas"] = "no PostgreSQL"

    assert main(part(play, monkeypatch)) == 0
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert told == [
        ["alive", "ok", "200"],
        ["files", "ok", "2/2"],
        ["replicas", "skipped", "no", "PostgreSQL"],
        ["2", "checks,", "0", "failed"],
    ]


@pytest.mark.parametrize("cases", [{"a": True, "b": False}, {}], ids=["one of two", "none at all"])
def test_what_does_not_hold_is_named_and_fails(
    cases: dict[str, bool], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(_: Room, checks: Report) -> None:
        checks.check_all(cases, "files")
        checks.check(True, "alive")

    assert main(part(play, monkeypatch)) == 1
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    wrong = [case for case, held in cases.items() if not held]
    assert told[0][:2] == ["files", "failed"]
    assert told[1 : 1 + len(wrong)] == [[case] for case in wrong]
    assert told[-1] == ["2", "checks,", "1", "failed"]


async def test_a_file_that_becomes_something_else_than_its_maker_says_is_told(tmp_path: Path) -> None:
    wrong = [
        Messy("好的.txt", "发票随货寄出。".encode(), refused=frozenset({"empty_document"})),
        Messy("空.txt", b""),
        Messy("没提示.txt", "发票可以补开。".encode(), notice="faq_columns", query="发票", needle="没有这句"),
    ]
    async with served(tmp_path / "data") as server:
        checks = Report()
        await uploads.check_uploads(Target(server.address), wrong, checks)
    lines = {line.name.removeprefix("uploads: "): line for line in checks.lines}
    assert (lines["every reply is typed"].held, lines["every reply is typed"].figure) == (True, "3/3")
    assert len(lines["taken or refused, as they should be"].details) == 2
    assert not lines["notices are there"].held
    assert not lines["what was taken is found"].held


def test_there_are_enough_messy_files_and_no_two_of_one_path() -> None:
    paths = [file.path for file in list_messy_files()]
    assert len(paths) == len(set(paths)) > 50
