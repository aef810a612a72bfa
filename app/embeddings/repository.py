"""Embeddings in the product's database, by model and content: what one replica embedded, no other embeds again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, delete, func, select, update

from app.db.batches import BATCH, split_batches
from app.db.engine import Database, insert_into
from app.embeddings.tables import Embedding
from knowledge.types import Vector

Result = TypeVar("Result")

_PRECISION_DAYS = 7


class DatabaseEmbeddingCache:
    """Implements `app.embeddings.base.KeptEmbeddings`. Made on the event loop, used from other threads, as the
    embedder does: each call waits there for the loop, which alone talks to the database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._loop = asyncio.get_running_loop()

    def get_many(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Loads those of these vectors that are stored, float32. Blocking."""
        return self._wait(self._get(sorted(set(keys))))

    def put_many(self, vectors: dict[str, Vector]) -> None:
        """Stores vectors; a key that is there already keeps its value. Blocking."""
        # In order: replicas that store the same vectors at once wait for each other instead of dying by a deadlock.
        rows = [
            {"key": key, "vector": np.asarray(vector, dtype="<f4").tobytes(), "used_on": _get_today()}
            for key, vector in sorted(vectors.items())
        ]
        for part in split_batches(rows):
            self._wait(self._put(part))

    def drop_many(self, keys: Sequence[str]) -> None:
        """Deletes vectors; keys that are missing already do no harm. Blocking."""
        for part in split_batches(keys):
            self._wait(self._drop(part))

    def count(self) -> int:
        """Counts the vectors. Blocking."""
        return self._wait(self._count_vectors(None))

    def count_unused(self, days: int) -> int:
        """Counts the vectors that were not used for so many days. Blocking."""
        return self._wait(self._count_vectors(_get_today() - days))

    def forget(self, days: int) -> int:
        """Deletes some of those that were not used for so many days, and returns how many; 0 when none is left."""
        return self._wait(self._forget(_get_today() - days))

    def close(self) -> None:
        """Does nothing: the database is closed by its owner."""

    def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _get(self, keys: Sequence[str]) -> dict[str, Vector]:
        found: dict[str, Vector] = {}
        stale: list[str] = []
        for part in split_batches(keys):
            query = select(Embedding.key, Embedding.vector, Embedding.used_on)
            async with self._database.read() as connection:
                rows = await connection.execute(query.where(Embedding.key.in_(part)))
                for key, blob, used_on in rows:
                    found[key] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
                    if used_on < _get_today() - _PRECISION_DAYS:
                        stale.append(key)
        for part in split_batches(stale):
            await self._mark_used(part)
        return found

    async def _mark_used(self, keys: Sequence[str]) -> None:
        """Notes that vectors are used, to the week: a start reads them all, and should not write them all."""

        def mark_used(connection: Connection) -> None:
            connection.execute(update(Embedding).where(Embedding.key.in_(keys)).values(used_on=_get_today()))

        await self._database.transact(mark_used, durable=False)

    async def _put(self, rows: Sequence[dict[str, Any]]) -> None:
        def put(connection: Connection) -> None:
            connection.execute(insert_into(connection, Embedding).on_conflict_do_nothing(), rows)

        await self._database.transact(put, durable=False)  # what a power cut takes is embedded again

    async def _drop(self, keys: Sequence[str]) -> None:
        dropped = delete(Embedding).where(Embedding.key.in_(keys))
        await self._database.execute(dropped)

    async def _count_vectors(self, before: int | None) -> int:
        query = select(func.count()).select_from(Embedding)
        if before is not None:
            query = query.where(Embedding.used_on < before)
        return int(await self._database.fetch_value(query))

    async def _forget(self, before: int) -> int:
        some = select(Embedding.key).where(Embedding.used_on < before).limit(BATCH)

        def forget(connection: Connection) -> int:
            keys = list(connection.execute(some).scalars())
            connection.execute(delete(Embedding).where(Embedding.key.in_(keys)))
            return len(keys)

        return await self._database.transact(forget)


def _get_today() -> int:
    return datetime.now(UTC).toordinal()
