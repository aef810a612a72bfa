"""What several commands share: how arguments are read, settings loaded, DATA_DIR held and reports written."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from app.auth.principal import check_tenant_id
from app.db.lock import DataDirLock
from app.private import keep_private
from app.settings import Settings, load_settings
from knowledge.errors import InvalidConfiguration

Value = TypeVar("Value")


def explain_errors(check: Callable[[str], Value]) -> Callable[[str], Value]:
    """For `type=`: what a ValueError of `check` says is told as it stands, where argparse would only say that the value
    is invalid.
    """

    def parse_value(text: str) -> Value:
        try:
            return check(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse_value


@explain_errors
def parse_tenant(text: str) -> str:
    """The id of a tenant, for `type=`."""
    return check_tenant_id(text)


def parse_positive(text: str) -> int:
    """A whole number from 1, for `type=`."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("至少为 1")
    return number


def parse_share(text: str) -> float:
    """A number from 0 to 1, for `type=`."""
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("须在 0 到 1 之间")
    return value


def run_with_settings(
    work: Callable[[Settings], Coroutine[Any, Any, int]],
    errors: type[Exception] | tuple[type[Exception], ...] = InvalidConfiguration,
    failure: int = 2,
) -> int:
    """Loads the settings, keeps DATA_DIR private and runs a command.

    Args:
        work: what the command does; returns its exit code.
        errors: what is told in one line, and not as a traceback.
        failure: the exit code where one of these errors ended it.

    Returns: the exit code.
    """
    try:
        settings = load_settings()
        keep_private(settings.data_dir)
        return asyncio.run(work(settings))
    except errors as error:
        print(error, file=sys.stderr)
        return failure


@contextmanager
def lock_data_dir(settings: Settings) -> Iterator[bool]:
    """Holds DATA_DIR until the end of the block. Yields False where a server or another command holds it."""
    lock = DataDirLock(settings.data_dir)
    try:
        yield lock.try_acquire()
    finally:
        lock.release()


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--json OUT`, see `write_report`."""
    parser.add_argument("--json", type=Path, metavar="OUT", help="报告写到这里")


def check_folders(parser: argparse.ArgumentParser, *paths: Path | None) -> None:
    """Ends the command where a file could not be written for lack of its folder: not after minutes of work."""
    for path in paths:
        if path and not path.resolve().parent.is_dir():
            parser.error(f"没有文件夹 {path.resolve().parent}")


def write_report(report: object, path: Path | None) -> None:
    """Prints a report as JSON, and writes it to a file where one is named."""
    text = json.dumps(report, ensure_ascii=False, indent=2)
    print(text)  # first, so that a file that cannot be written loses nothing
    if path:
        path.write_text(text + "\n", "utf-8")
