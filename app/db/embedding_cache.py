"""Embeddings on disk, by model and content: unchanged text is never embedded twice, by no process of this machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from knowledge.types import Vector

_BATCH = 500


class SqliteEmbeddingCache:
    """Implements `knowledge.embeddings.base.EmbeddingCache` in a SQLite file of its own.

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

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """The vectors that are there, float32; missing keys are absent."""
        found: dict[str, Vector] = {}
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            query = f"SELECT key, vector FROM vectors WHERE key IN ({','.join('?' * len(part))})"
            with self._lock:
                rows = self._connection.execute(query, part).fetchall()
            found.update({key: np.frombuffer(blob, dtype="<f4").astype(np.float32) for key, blob in rows})
        return found

    def put_many(self, vectors: dict[str, Vector]) -> None:
        """Stores vectors, all or none; a key that is there already keeps its value."""
        rows = [(key, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors.items()]
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()
