"""Builds an index beside the one that answers, or where none is open: from SQL, by the embedder that it is to be of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from app.generations.engine import Generation
from app.generations.service import Generations
from app.generations.types import StoredGeneration
from app.indexing.catch_up import CatchUp, FollowedIndex, SearchedIndex
from app.indexing.verification import IndexAndDatabase, compare_both
from knowledge.errors import IndexUnavailable
from knowledge.index import Index
from knowledge.types import Chunk, Matrix

if TYPE_CHECKING:
    from app.documents.repository_feed import IndexFeed

# Chunks between two looks at whether the run was cancelled.
PART = 32
# Documents may come in meanwhile: what they bring is less each time.
ATTEMPTS = 20
Progress = Callable[[int, int], Awaitable[None]]


class Steps:
    """How far a build is, in chunks that are embedded. Its methods raise what `progress` raises."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done = self._total = 0

    async def expect(self, count: int) -> None:
        """Adds to the number of expected steps."""
        self._total += count
        await self._progress(self._done, self._total)

    async def add_steps(self, count: int) -> None:
        """Adds to the number of steps that are done."""
        self._done += count
        await self._progress(self._done, self._total)


@dataclass(frozen=True, slots=True)
class Shadow:
    """An index that nobody is answered from yet."""

    generation: Generation
    followed: FollowedIndex
    searched: SearchedIndex

    def list_chunks(self) -> list[Chunk]:
        """Lists the chunks of the new index."""
        return sorted(self.followed.index.get_snapshot().walk(), key=attrgetter("id"))


class ShadowBuilder:
    """open_index: as the store keeps it; drop_others: removes what the store keeps of a tenant but some generations.

    Vectors are kept by content as they are made, so that a build which was cut short begins anew and is soon where it
    was.
    """

    def __init__(
        self,
        generations: Generations,
        feed: IndexFeed,
        catch_up: CatchUp,
        open_index: Callable[[Generation], Awaitable[Index]],
        drop_others: Callable[[str, Collection[int]], None],
    ) -> None:
        self._generations = generations
        self._feed = feed
        self._catch_up = catch_up
        self._open_index = open_index
        self._drop_others = drop_others

    async def build(self, tenant: str, stored: StoredGeneration, steps: Steps) -> Shadow:
        """Builds a tenant's new index at a revision that was SQL's a moment ago. Raises what the embedder and the store
        raise.
        """
        await self._generations.get_current(tenant)
        await self._drop_leftovers(tenant)
        generation, index = await self._generations.open_beside(tenant, stored), None
        try:
            index = await self._open_index(generation)
            shadow = Shadow(generation, FollowedIndex(index), SearchedIndex(index))
            for _ in range(ATTEMPTS):
                if not await self.catch_up(shadow, steps):
                    return shadow
            raise IndexUnavailable("the knowledge base changes faster than it is indexed")
        except BaseException:
            await self._discard_shadow(generation, index)
            raise

    async def catch_up(self, shadow: Shadow, steps: Steps) -> bool:
        """Follows SQL; whether there was anything to follow."""
        embedder = shadow.generation.embedder

        async def embed(texts: Sequence[str]) -> Matrix:
            await steps.expect(len(texts))
            rows = [await embedder.embed_passages([])]
            for start in range(0, len(texts), PART):
                part = texts[start : start + PART]
                rows.append(await embedder.embed_passages(part))
                await steps.add_steps(len(part))
            return np.concatenate(rows)

        return await self._catch_up.bring_to_head(shadow.generation.tenant, shadow.followed, embed)

    async def verify(self, shadow: Shadow, steps: Steps) -> int:
        """Checks that the new index has all chunks as they are in SQL, and returns how many. Raises IndexUnavailable
        otherwise.
        """
        tenant = shadow.generation.tenant

        async def report_look(done: int, total: int) -> None:
            await steps.add_steps(0)

        for _ in range(ATTEMPTS):
            delta = await self._feed.load_all(tenant)
            snapshot = shadow.followed.index.get_snapshot()
            if delta.revision == snapshot.revision:
                differences = await compare_both(
                    IndexAndDatabase.from_snapshot(snapshot, delta), shadow.generation.embedder, report_look
                )
                if differences:
                    raise IndexUnavailable(f"the new index differs from the database: {differences.count_each()}")
                return len(snapshot)
            await self.catch_up(shadow, steps)
        raise IndexUnavailable("the knowledge base changes faster than it is indexed")

    async def discard(self, shadow: Shadow) -> None:
        """Drops a new index that is not going to answer after all."""
        await self._discard_shadow(shadow.generation, shadow.followed.index)

    async def forget(self, generation: Generation, index: Index | None) -> None:
        """Drops the index of a generation that answered until now, once no turn uses it."""
        await generation.wait_until_unused()
        await self._discard_shadow(generation, index)

    async def _discard_shadow(self, generation: Generation, index: Index | None) -> None:
        if index is not None:
            await index.close()
        await self._generations.close_generation(generation)
        await self._drop_leftovers(generation.tenant)

    async def _drop_leftovers(self, tenant: str) -> None:
        """Drops the indexes of builds that were cut short, and of generations that answered before."""
        await asyncio.to_thread(self._drop_others, tenant, self._generations.list_numbers(tenant))
