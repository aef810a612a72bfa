from __future__ import annotations

import io
import json
import logging
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from agents.errors import GenerationUnavailable
from app.log_file import LogFile
from app.logging import configure_logging, mask
from tests.logs import logging_restored, product_log


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with product_log("INFO") as stream:
        yield stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_the_context_it_was_written_in(stream: io.StringIO) -> None:
    with logger.contextualize(request_id="r1"):
        logger.bind(tenant="t", status=200, ms=1.5).info("request")
    [line] = lines(stream)
    assert (line["event"], line["level"], line["request_id"]) == ("request", "INFO", "r1")
    assert (line["tenant"], line["status"], line["ms"]) == ("t", 200, 1.5)


def test_fields_nobody_declared_are_not_written(stream: io.StringIO) -> None:
    logger.bind(message_text="我的密码是 hunter2").info("request")
    assert "hunter2" not in stream.getvalue()


def test_libraries_write_the_same_lines(stream: io.StringIO) -> None:
    logging.getLogger("some.library").warning("slow %s", "disk")
    assert [(line["level"], line["event"]) for line in lines(stream)] == [("WARNING", "slow disk")]


def test_the_message_of_a_foreign_error_is_not_written(stream: io.StringIO) -> None:
    try:
        raise ValueError("parameters: 张三 13812345678")
    except ValueError as error:
        logger.opt(exception=error).error("request failed")
    [line] = lines(stream)
    assert (line["error"], line["reason"]) == ("ValueError", "")
    assert "test_logging.py" in line["stack"][-1]
    assert "张三" not in stream.getvalue()


def test_the_message_of_our_own_errors_is_written(stream: io.StringIO) -> None:
    try:
        raise GenerationUnavailable("timeout after 5 s")
    except GenerationUnavailable as error:
        logger.opt(exception=error).error("request failed")
    assert lines(stream)[0]["reason"] == "timeout after 5 s"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call 13812345678 now", "call [number] now"),
        ("138 1234 5678", "[number]"),
        ("+86-138-1234-5678", "[number]"),
        ("身份证11010519491231002X号", "身份证[number]号"),
        ("电话13812345678", "电话[number]"),
        ("at 2026-11-21T22:42:37, id 9f03-12", "at 2026-11-21T22:42:37, id 9f03-12"),
        ("me@example.com", "[email]"),
        ("took 12.5 ms, 200", "took 12.5 ms, 200"),
    ],
)
def test_numbers_and_addresses_of_people_are_masked(text: str, expected: str) -> None:
    assert mask(text) == expected


def test_a_file_begins_anew_by_size_and_by_day_and_old_ones_go(tmp_path: Path) -> None:
    path = tmp_path / "log" / "yingda.log"
    stale = tmp_path / "log" / "yingda.2020-01-01_00-00-00_000000.log"
    path.parent.mkdir()
    stale.write_text("old")
    os.utime(stale, (1, 1))
    path.write_text("of the day before\n")
    os.utime(path, (time.time() - 86_400,) * 2)
    with logging_restored():
        configure_logging("INFO", file=LogFile(path, max_bytes=1000, days=30))
        for number in range(40):
            logger.bind(tenant="t{x}").info("request {}", number)
    files = sorted(path.parent.iterdir())
    assert stale not in files
    assert len(files) > 3
    assert all(item.stat().st_size <= 1000 for item in files)
    written = [line for item in files for line in item.read_text("utf-8").splitlines() if "before" not in line]
    assert {json.loads(line)["event"] for line in written} == {f"request {number}" for number in range(40)}
    assert json.loads(written[0])["tenant"] == "t{x}"
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
