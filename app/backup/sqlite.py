"""SQLite files, copied while a server writes them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from app.backup.types import BackupFailed


def copy_database(source: Path, target: Path) -> None:
    """One state of the file with all that was committed, the `-wal` included, as a single checked file.

    In one step: writers go on, as a reader holds up nobody in WAL mode. Blocking. Raises BackupFailed.
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


def put_database(source: Path, target: Path) -> None:
    """Takes the place of what is at the target, logs of SQLite beside it included. Blocking."""
    for suffix in ("-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    partial = target.with_name(target.name + ".partial")
    shutil.copyfile(source, partial)
    partial.replace(target)
