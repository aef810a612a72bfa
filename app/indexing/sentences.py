"""Embeds the sentences of what is indexed, behind: documents answer before, by the words of their sentences alone."""

from __future__ import annotations

import asyncio
import math
from operator import attrgetter
from time import monotonic

from loguru import logger

from agents.answering.meaning import Meaning
from app.tasks import stop_tasks
from knowledge.buckets import Buckets
from knowledge.index import Index, Snapshot
from knowledge.types import Chunk

# Without a change of any index: while documents come in, their chunks are embedded first.
QUIET_SECONDS = 1.0
# Longer where changes follow each other: so many times the time between the last two. The import may be another
# process, which then has the processors to itself.
QUIET_GAPS, MAX_GAP_SECONDS = 3.0, 30.0
# Chunks between two looks at whether documents come in.
PART = 4
# Buckets whose chunks are read together. What is in one with a new chunk is learnt again: its vectors are kept.
AT_ONCE = 256


class SentenceLearner:
    """One task for all tenants. `watch` and `follow` wake it; what failed is tried again at the next of these."""

    def __init__(self, meaning: Meaning) -> None:
        self._meaning = meaning
        self._indexes: dict[str, Index] = {}
        self._learnt: dict[str, Buckets] = {}
        self._changed = asyncio.Event()
        self._changed_at, self._gap = -math.inf, 0.0
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None

    def watch(self, tenant: str, index: Index) -> None:
        """Learns what is in an index from now on. On the event loop."""
        self._indexes[tenant] = index
        self._task = self._task or asyncio.create_task(self._run(), name="sentences")
        self._wake()

    def leave(self, tenant: str, index: Index) -> None:
        """This index is not searched any more."""
        if self._indexes.get(tenant) is index:
            del self._indexes[tenant]
            self._learnt.pop(tenant, None)

    def follow(self, tenant: str, revision: int) -> None:
        """Takes note that a tenant's index moved to a revision."""
        if tenant in self._indexes:
            self._wake()

    async def wait_until_settled(self) -> None:
        """Returns once all was learnt, or could not be."""
        await self._idle.wait()

    async def close(self) -> None:
        """Stops; what was embedded is kept."""
        await stop_tasks(self._task)

    def _wake(self) -> None:
        gap, self._changed_at = monotonic() - self._changed_at, monotonic()
        self._gap = gap if gap < MAX_GAP_SECONDS else 0.0
        self._idle.clear()
        self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            while self._changed.is_set():
                self._changed.clear()
                await asyncio.sleep(max(QUIET_SECONDS, QUIET_GAPS * self._gap))
            try:
                for tenant, index in list(self._indexes.items()):
                    await self._learn(tenant, index)
            except Exception as error:  # the embedder may be away, or the database that keeps its vectors
                logger.opt(exception=error).warning("sentences are chosen by their words alone")
            if not self._changed.is_set():
                self._idle.set()

    async def _learn(self, tenant: str, index: Index) -> None:
        """Learns what is new in an index, until it changes."""
        snapshot = index.get_snapshot()
        self._learnt.setdefault(tenant, Buckets.from_ids(()))
        new = sorted(self._learnt[tenant].find_differences(snapshot.buckets))
        for start in range(0, len(new), AT_ONCE):
            numbers = frozenset(new[start : start + AT_ONCE])
            chunks = await asyncio.to_thread(_load_chunks, snapshot, numbers)
            for begin in range(0, len(chunks), PART):
                if self._changed.is_set():
                    return
                await self._meaning.learn(chunks[begin : begin + PART])
            self._learnt[tenant] = self._learnt[tenant].take_buckets(snapshot.buckets, numbers)


def _load_chunks(snapshot: Snapshot, numbers: frozenset[int]) -> list[Chunk]:
    return sorted(snapshot.walk(numbers), key=attrgetter("id"))
