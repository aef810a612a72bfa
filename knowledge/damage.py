"""Damaged files that can be rebuilt: moves them aside, so that they are built anew and can still be examined."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from loguru import logger

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_BESIDE = ("-wal", "-shm")


def set_aside(path: Path, reason: object) -> Path:
    """Renames a file (with SQLite's files beside it) or a folder to NAME.damaged-DATE, and logs it.

    Returns:
        The new path.

    Raises:
        OSError: If it cannot be renamed.
    """
    aside = path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    path.rename(aside)
    for end in _BESIDE:
        beside = path.with_name(path.name + end)
        if beside.exists():
            beside.rename(aside.with_name(aside.name + end))
    logger.error("{} is damaged ({}): it is set aside as {} and built anew", path.name, reason, aside.name)
    return aside


def is_damage(error: sqlite3.Error) -> bool:
    """Returns whether an SQLite error means a damaged or foreign file, not a busy one or a full disk."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def find_sqlite_damage(path: Path) -> str:
    """Describes what SQLite finds wrong with a file that nobody has open; empty for a sound or missing file. Reads
    all of it.
    """
    if not path.is_file():
        return ""
    try:
        with closing(sqlite3.connect(path)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error) if is_damage(error) else ""
    return "" if found == "ok" else str(found)
