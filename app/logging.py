"""Logs without personal data: JSON lines on stderr or in a file, or readable lines on a terminal.

A line carries only the fields of `FIELDS`, an event's constant message and the place of an error. What customers wrote
never goes into a message; as a second net phone numbers, addresses and long numbers are masked in every line.
"""

from __future__ import annotations

import logging
import re
import sys
import traceback
from typing import TYPE_CHECKING, Any, TextIO

import orjson
from loguru import logger

from app.errors import find_outage
from app.log_file import LogFile
from knowledge.errors import ParserFault

if TYPE_CHECKING:
    from loguru import Message, Record

# The only extra fields that are written.
FIELDS = (
    *("request_id", "tenant", "method", "path", "status", "ms", "outcome", "reason"),
    *("agent", "degraded", "revision", "count"),
)

_MASKS = (
    (re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"), "[email]"),
    (re.compile(r"(?<![A-Za-z0-9-])\+?\d(?:[ -]?\d){6,}[Xx]?(?![A-Za-z0-9-])"), "[number]"),
)
_QUIET = ("uvicorn.access", "httpx", "chromadb", "alembic", "aiosqlite", "asyncio", "jieba", "apscheduler")


def configure_logging(level: str, stream: TextIO | None = None, file: LogFile | None = None) -> None:
    """Sends all logs of the process, those of libraries included, to `file`, or to `stream` (stderr when None). Raises
    OSError for a file that cannot be written.
    """
    target = stream or sys.stderr
    render = _format_readable if target.isatty() else _format_json

    def write(message: Message) -> None:
        target.write(render(message.record) + "\n")
        target.flush()

    logger.remove()
    if file is not None:
        logger.add(**file.build_options(), level=level, format=_format_line, backtrace=False, diagnose=False)
    else:  # `write` renders the record itself; loguru's own rendering would cost as much again
        logger.add(write, level=level, format=lambda _: "", backtrace=False, diagnose=False)
    logging.basicConfig(handlers=[_ToLoguru()], level=logging.INFO, force=True)
    for name in logging.root.manager.loggerDict:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


def mask(text: str) -> str:
    """Text without e-mail addresses and long numbers."""
    for pattern, replacement in _MASKS:
        text = pattern.sub(replacement, text)
    return text


class _ToLoguru(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        level: str | int = record.levelname if record.levelname in logger._core.levels else record.levelno  # type: ignore[attr-defined]
        logger.opt(exception=record.exc_info).log(level, "{}", record.getMessage())


def _build_fields(record: Record) -> dict[str, Any]:
    extra = record["extra"]
    fields: dict[str, Any] = {name: extra[name] for name in FIELDS if extra.get(name) is not None}
    if record["exception"] is not None:
        fields |= _describe_error(record["exception"].value)
    return fields


def _describe_error(error: BaseException | None) -> dict[str, Any]:
    """Type and place. The message only of our own errors: that of a driver may quote a customer's words."""
    if error is None:
        return {}
    told = find_outage(error) or error
    own = type(told).__module__.split(".")[0] in ("app", "agents", "knowledge")
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, ParserFault):  # of another process
        frames = list(error.frames) or frames
    cause = error.__cause__ or error.__context__
    return {
        "error": type(told).__name__,
        "reason": str(told)[:300] if own else "",
        "cause": type(cause).__name__ if cause else "",
        "stack": frames[-12:],
    }


def _format_json(record: Record) -> str:
    line = {"time": record["time"].isoformat(), "level": record["level"].name, "event": record["message"]}
    return orjson.dumps(_mask_fields(line | _build_fields(record)), default=str).decode()


def _format_line(record: Record) -> str:
    """The template of a line, which loguru compiles once: the line itself stands in the record."""
    record["extra"]["_line"] = _format_json(record)
    return "{extra[_line]}\n"


def _format_readable(record: Record) -> str:
    fields = _mask_fields(_build_fields(record))
    stack = "".join(f"\n    {frame}" for frame in fields.pop("stack", ()))
    values = " ".join(f"{name}={value}" for name, value in fields.items() if value not in ("", None))
    return f"{record['time']:HH:mm:ss} {record['level'].name:7} {mask(record['message'])}  {values}{stack}"


def _mask_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """What may hold others' words; ids, times and names of ours stay: they are what a line is found by."""
    return fields | {name: mask(value) for name in ("event", "reason") if (value := fields.get(name))}
