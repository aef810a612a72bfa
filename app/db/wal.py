"""Keeps the files of SQLite from growing for ever, and from holding what was erased."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import Engine
from sqlalchemy.engine.interfaces import DBAPICursor

LIMIT_BYTES = 64 * 1024 * 1024
# How much it may grow before the next try, where a reader stood in the way.
STEP_BYTES = 16 * 1024 * 1024
# How long readers are waited for; writers wait as long.
PATIENCE_MS = 1000
# Until the next write may try again, where a reader stood in the way of an erasure.
RETRY_SECONDS = 10.0
# More than the log has left of its own room, most often.
PROBE_BYTES = 256 * 1024
# Until it is asked again for a log where other connections ask, too.
SWITCH_PAUSE_SECONDS = 0.005


def switch_to_wal(cursor: DBAPICursor | sqlite3.Cursor) -> None:
    """Has a database keep a write-ahead log, which SQLite notes in its file.

    Raises the driver's error where others switch for longer than the connection's busy timeout. It is waited for here:
    where several connections open a new file, SQLite tells all but one at once that it is locked.
    """
    cursor.execute("PRAGMA busy_timeout")
    deadline = monotonic() + cursor.fetchall()[0][0] / 1000
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
        sleep(SWITCH_PAUSE_SECONDS)


class WriteAheadLog:
    """SQLite starts its log anew only at a moment when nobody reads from it. Under steady traffic there is none: with
    eight readers in turn it grew by 12 MB a second. So whoever has just written makes one, while no other writes.
    """

    def __init__(self, database: str) -> None:
        """database: path of the file."""
        self._path = Path(f"{database}-wal")
        self._limit = LIMIT_BYTES
        # When what was erased is to go from it.
        self._due: float | None = None

    def expect_erasure(self) -> None:
        """Words were taken away for good: as they were before, they stand in the log until it is cut."""
        self._due = monotonic()

    @property
    def is_due(self) -> bool:
        """Whether it is time to cut it. Costs a microsecond."""
        if self._due is not None and self._due <= monotonic():
            return True
        with suppress(OSError):
            return self._path.stat().st_size > self._limit
        return False

    def cut_log(self, engine: Engine) -> None:
        """Moves its pages into the database and empties it, unless a reader takes too long. Blocking.

        What was written is kept already, so a disk that has no room for this is no failure of it.
        """
        busy = 1
        with suppress(sqlite3.OperationalError), _open_impatient(engine) as cursor:
            busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        self._limit = self._path.stat().st_size + STEP_BYTES if busy else LIMIT_BYTES
        if self._due is not None:
            self._due = monotonic() + RETRY_SECONDS if busy else None


def run_vacuum(engine: Engine) -> None:
    """Writes the file anew without free pages, and empties its log. Blocking."""
    with closing(engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def try_write(engine: Engine) -> None:
    """Writes, in a transaction of its own, what leaves nothing behind. Blocking. Raises sqlite3.OperationalError where
    the disk has no room for it, or another holds the lock for longer than PATIENCE_MS; the pool rolls that back.
    """
    with _open_impatient(engine) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        cursor.execute(f"CREATE TABLE write_probe AS SELECT zeroblob({PROBE_BYTES}) AS room")
        cursor.execute("DROP TABLE write_probe")
        cursor.execute("COMMIT")


@contextmanager
def _open_impatient(engine: Engine) -> Iterator[DBAPICursor]:
    """Opens a cursor that waits for others no longer than PATIENCE_MS."""
    with closing(engine.raw_connection()) as connection, closing(connection.cursor()) as cursor:
        before = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
        try:
            yield cursor
        finally:
            cursor.execute(f"PRAGMA busy_timeout={before}")
