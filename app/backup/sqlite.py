"""Copies of SQLite files while a server writes to them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from app.backup.types import BackupFailed


def copy_database(source: Path, target: Path) -> None:
    """Copies one state of a database with everything committed, the `-wal` included, into one verified file. Blocking.

    It is one step: in WAL mode a reader does not block writers.

    Args:
        source: The database.
        target: The file to write.

    Raises:
        BackupFailed: There is no such database, or it is damaged.
    """
    if not source.is_file():
        raise BackupFailed(f"没有 {source}：DATA_DIR 对吗？")
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as live,
            closing(sqlite3.connect(target)) as copy,
        ):
            live.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
            (found,) = copy.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.Error as error:
        raise BackupFailed(f"{source} 备份不了：{error}") from error
    if found != "ok":
        raise BackupFailed(f"{source} 已损坏：{found}")


def replace_database(source: Path, target: Path) -> None:
    """Replaces the target and the SQLite logs beside it by the source. Blocking."""
    for suffix in ("-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    partial = target.with_name(target.name + ".partial")
    shutil.copyfile(source, partial)
    partial.replace(target)
