"""Embeddings on disk, by model and content: unchanged text is never embedded twice, by no process of this machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np

from app.db.batches import BATCH, split_batches
from app.db.wal import switch_to_wal
from app.errors import find_outage
from knowledge.damage import is_damage, set_aside
from knowledge.types import Vector

Result = TypeVar("Result")

_PRECISION_DAYS = 7
_OPENING = (
    "PRAGMA synchronous=NORMAL",  # a vector that a power cut takes is embedded again; a killed process loses none
    "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS uses (key TEXT PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID",
)


class SqliteEmbeddingCache:
    """Implements `KeptEmbeddings` in a SQLite file of its own.

    Threads share one connection behind a lock; processes share the file. A file of its own keeps bulk writes of
    vectors out of the way of the commits that customers wait for. All of it can be computed again: a file that is
    damaged is set aside, whenever that is noticed, and another begun. Raises StorageFull, DatabaseBusy.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._run(lambda _: None)

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Loads those of these vectors that are stored, float32."""
        found: dict[str, Vector] = {}
        for part in split_batches(keys):
            rows = self._run(partial(_get, keys=part))
            found.update({key: np.frombuffer(blob, dtype="<f4").astype(np.float32) for key, blob in rows})
        return found

    def put_many(self, vectors: dict[str, Vector]) -> None:
        """Stores vectors, all or none; a key that is there already keeps its value."""
        rows = [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()]
        today = _get_today()

        def put(connection: sqlite3.Connection) -> None:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            connection.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?)", [(key, today) for key, _ in rows])

        self._run_transaction(put)

    def drop_many(self, keys: Sequence[str]) -> None:
        """Deletes vectors; keys that are missing already do no harm."""

        def drop(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
            connection.executemany("DELETE FROM uses WHERE key = ?", [(key,) for key in keys])

        self._run_transaction(drop)

    def count(self) -> int:
        """Counts the vectors."""
        return self._run(lambda connection: int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0]))

    def count_unused(self, days: int) -> int:
        """Counts the vectors that were not used for so many days, as far as that is known."""
        query, before = "SELECT count(*) FROM uses WHERE day < ?", _get_today() - days
        return self._run(lambda connection: int(connection.execute(query, [before]).fetchone()[0]))

    def forget(self, days: int) -> int:
        """Deletes some of those that were not used for so many days, and returns how many; 0 when none is left.

        A vector of which no use is known, being older than that record, counts as used today: it is noted at the end.
        """

        def forget(connection: sqlite3.Connection) -> int:
            query = "SELECT key FROM uses WHERE day < ? LIMIT ?"
            keys = connection.execute(query, [_get_today() - days, BATCH]).fetchall()
            connection.executemany("DELETE FROM vectors WHERE key = ?", keys)
            connection.executemany("DELETE FROM uses WHERE key = ?", keys)
            if not keys:
                connection.execute(f"INSERT OR IGNORE INTO uses SELECT key, {_get_today()} FROM vectors")
            return len(keys)

        return self._run_transaction(forget)

    def vacuum(self) -> None:
        """Gives the space of what was deleted back to the system."""
        self._run(lambda connection: connection.execute("VACUUM") and None)

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def _run_transaction(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return self._run(partial(_run_transaction, work=work))

    def _run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        with self._lock:
            try:
                return work(self._open())
            except sqlite3.DatabaseError as error:
                if (outage := find_outage(error)) is not None:
                    raise outage from error
                if not is_damage(error):
                    raise
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None
                set_aside(self._path, error)
                return work(self._open())

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, timeout=30, check_same_thread=False, isolation_level=None)
            try:
                switch_to_wal(connection.cursor())
                for statement in _OPENING:
                    connection.execute(statement)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection


def _get(connection: sqlite3.Connection, keys: Sequence[str]) -> list[tuple[str, bytes]]:
    places = ",".join("?" * len(keys))
    rows = connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({places})", keys).fetchall()
    _mark_used(connection, keys, places)
    return rows


def _mark_used(connection: sqlite3.Connection, keys: Sequence[str], places: str) -> None:
    """Notes that vectors are used, to the week: a start reads them all, and should not write them all. It is noted
    another time where the disk is full, or another process writes for long.
    """
    stale = f"SELECT key FROM uses WHERE day < ? AND key IN ({places})"
    found = connection.execute(stale, [_get_today() - _PRECISION_DAYS, *keys]).fetchall()
    if not found:
        return
    try:
        connection.executemany(f"UPDATE uses SET day = {_get_today()} WHERE key = ?", found)
    except sqlite3.OperationalError as error:
        if find_outage(error) is None:
            raise


def _run_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], Result]) -> Result:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself may have ended it
            connection.execute("ROLLBACK")
        raise
    return result


def _get_today() -> int:
    return datetime.now(UTC).toordinal()
