"""Embeddings on disk, by model and content: unchanged text is never embedded twice, by no process of this machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

import numpy as np

from knowledge.types import Vector

_BATCH = 500
_PRECISION_DAYS = 7


class SqliteEmbeddingCache:
    """Implements `KeptEmbeddings` in a SQLite file of its own.

    Threads share one connection behind a lock; processes share the file. A file of its own keeps bulk writes of
    vectors out of the way of the commits that customers wait for.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = Lock()
        self._connection = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode=WAL")
        # A vector that a power cut takes is embedded again; a killed process loses none.
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
        )
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS uses (key TEXT PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID"
        )

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, float32; missing keys are absent."""
        found: dict[str, Vector] = {}
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            query = f"SELECT key, vector FROM vectors WHERE key IN ({','.join('?' * len(part))})"
            with self._lock:
                rows = self._connection.execute(query, part).fetchall()
                self._touch(part)
            found.update({key: np.frombuffer(blob, dtype="<f4").astype(np.float32) for key, blob in rows})
        return found

    def put_many(self, vectors: dict[str, Vector]) -> None:
        """Stores vectors, all or none; a key that is there already keeps its value."""
        rows = [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()]
        today = _today()
        with self._transaction() as connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            connection.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?)", [(key, today) for key, _ in rows])

    def drop_many(self, keys: Sequence[str]) -> None:
        """Deletes vectors; keys that are missing already do no harm."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
            connection.executemany("DELETE FROM uses WHERE key = ?", [(key,) for key in keys])

    def count(self) -> int:
        """How many vectors there are."""
        with self._lock:
            return int(self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def unused(self, days: int) -> int:
        """How many were not used for so many days, as far as that is known."""
        with self._lock:
            query = "SELECT count(*) FROM uses WHERE day < ?"
            return int(self._connection.execute(query, [_today() - days]).fetchone()[0])

    def forget(self, days: int) -> int:
        """Deletes some of those that were not used for so many days, and returns how many; 0 when none is left.

        A vector of which no use is known, being older than that record, counts as used today: it is noted at the end.
        """
        with self._transaction() as connection:
            query = "SELECT key FROM uses WHERE day < ? LIMIT ?"
            keys = connection.execute(query, [_today() - days, _BATCH]).fetchall()
            connection.executemany("DELETE FROM vectors WHERE key = ?", keys)
            connection.executemany("DELETE FROM uses WHERE key = ?", keys)
            if not keys:
                connection.execute(f"INSERT OR IGNORE INTO uses SELECT key, {_today()} FROM vectors")
            return len(keys)

    def vacuum(self) -> None:
        """Gives the space of what was deleted back to the system."""
        with self._lock:
            self._connection.execute("VACUUM")

    def _touch(self, keys: Sequence[str]) -> None:
        """Notes that vectors are used, to the week: a start reads them all, and should not write them all."""
        places = ",".join("?" * len(keys))
        stale = f"SELECT key FROM uses WHERE day < ? AND key IN ({places})"
        found = self._connection.execute(stale, [_today() - _PRECISION_DAYS, *keys]).fetchall()
        if found:
            self._connection.executemany(f"UPDATE uses SET day = {_today()} WHERE key = ?", found)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()


def _today() -> int:
    return datetime.now(UTC).toordinal()
