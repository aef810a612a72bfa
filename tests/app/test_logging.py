from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from loguru import logger

from agents.errors import GenerationUnavailable
from app.logging import configure_logging, mask


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure_logging("INFO", stream)
    yield stream
    logger.remove()
    root.handlers[:], root.level = handlers, level


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
