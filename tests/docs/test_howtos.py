"""The guide for developers is followed to the letter, in a copy of the project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.acceptance import WHOLE
from tests.docs.guide import GUIDES, Block, HowTo, changed, how_tos
from tests.documents import ROOT

pytestmark = [pytest.mark.xdist_group("howtos"), pytest.mark.timeout(300), pytest.mark.acceptance]  # followed once
NAMES = ["agent", "parser", "embedder", "reranker", "store", "llm", "setting", "migration", "feature"]
# All are followed and fit the code; these have their tests run, each of which takes seconds to start.
TESTED = NAMES if WHOLE else ["feature"]
HOW_TOS = how_tos(ROOT.joinpath(GUIDES[0]).read_text("utf-8"))
# Changed by a script of the same how-to before it is changed by hand.
AFTER_ITS_SCRIPT = "docs/configuration.en.md"
HOUSE = [
    "tests/test_architecture.py",
    "-k",
    "keeps_the_rule or siblings or by_way_of or statements_of_another or stands_once",
]
TESTS = """
import contextlib, io, json, sys
import pytest

def ran(arguments):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = pytest.main([*arguments, "-p", "no:cacheprovider"])
    return int(status), output.getvalue()

print(json.dumps({name: [ran(command) for command in commands] for name, commands in json.load(sys.stdin).items()}))
"""
# what is compiled comes along: it is valid for the copy, too
LEFT = shutil.ignore_patterns(".git", ".venv", ".cache", "data", "site", ".*_cache", "node_modules")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after all how-tos, one after the other."""
    folder = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(ROOT, folder, ignore=LEFT)
    for hidden in (".venv", ".cache"):
        if (ROOT / hidden).exists():
            folder.joinpath(hidden).symlink_to((ROOT / hidden).resolve())
    for how_to in HOW_TOS:
        for block in how_to.blocks:
            follow(block, folder)
    return folder


def follow(block: Block, folder: Path) -> None:
    """Does what a block says, but for its tests, which run together."""
    if block.file:
        path = folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            changed(path.read_text("utf-8"), block.code) if block.language == "diff" else block.code, "utf-8"
        )
    for words in block.commands:
        match words:
            case ["touch", *files]:
                for name in files:
                    folder.joinpath(name).touch()
            case [".venv/bin/python", script] if script.startswith("scripts/"):
                run([sys.executable, script], folder)
            case [".venv/bin/python", "-m", "pytest", *_]:
                pass
            case _:
                pytest.fail(f"nothing here follows this command: {words}")


def run(command: Sequence[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outcomes(copy: Path) -> dict[str, list[tuple[int, str]]]:
    """How-to -> exit status and output of each of its test commands, all in one process; `house`: of its rules."""
    asked = {how_to.name: how_to.tests for how_to in HOW_TOS if how_to.name in TESTED} | {"house": [HOUSE]}
    done = subprocess.run(
        [sys.executable, "-c", TESTS], input=json.dumps(asked), cwd=copy, stdout=subprocess.PIPE, text=True
    )
    return {name: [(status, output) for status, output in ran] for name, ran in json.loads(done.stdout).items()}


def test_the_migration_of_the_guide_follows_the_last_one() -> None:
    numbers = sorted(path.name[:4] for path in ROOT.glob("app/db/migrations/versions/[0-9]*.py"))
    [own] = [block.file for how_to in HOW_TOS for block in how_to.blocks if "/migrations/versions/" in block.file]
    assert Path(own).name[:4] == f"{int(numbers[-1]) + 1:04}"


@pytest.mark.acceptance(only=True)
@pytest.mark.parametrize("name", TESTED)
def test_what_is_added_as_the_guide_says_passes_the_tests_that_it_names(
    name: str, outcomes: dict[str, list[tuple[int, str]]]
) -> None:
    assert outcomes[name]
    for status, output in outcomes[name]:
        assert status == pytest.ExitCode.OK, output


@pytest.mark.parametrize("how_to", HOW_TOS, ids=lambda how_to: how_to.name)
def test_each_change_fits_the_code_as_it_is(how_to: HowTo) -> None:
    """Without those before it."""
    texts: dict[str, str] = {}
    for block in how_to.blocks:
        if block.language == "diff" and block.file not in AFTER_ITS_SCRIPT:
            before = texts.get(block.file) or ROOT.joinpath(block.file).read_text("utf-8")
            texts[block.file] = changed(before, block.code)


@pytest.mark.acceptance(only=True)
def test_what_is_added_keeps_the_rules_of_the_house(copy: Path, outcomes: dict[str, list[tuple[int, str]]]) -> None:
    ours = sorted({block.file for how_to in HOW_TOS for block in how_to.blocks if block.file.endswith(".py")})
    run([sys.executable, "-m", "ruff", "check", *ours], copy)
    run([sys.executable, "-m", "ruff", "format", "--check", *ours], copy)
    for status, output in outcomes["house"]:
        assert status == pytest.ExitCode.OK, output


def test_it_tells_how_to_add_each_kind_of_thing() -> None:
    assert [how_to.name for how_to in HOW_TOS] == NAMES


def test_both_languages_have_the_same_code() -> None:
    chinese, english = (how_tos(ROOT.joinpath(page).read_text("utf-8")) for page in GUIDES)
    assert chinese == english
