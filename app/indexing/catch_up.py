"""Brings an index to SQL's revision, whichever embedder it is of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.documents.types import Difference, IndexDelta, OutdatedTokens
from app.indexing.retokeniser import Retokeniser
from knowledge.index import Index, Snapshot, find_differences
from knowledge.memory import release_memory
from knowledge.types import IndexChange, IndexedChunk, Matrix

if TYPE_CHECKING:
    from app.documents.repository_feed import IndexFeed
    from app.vocabulary.analyzers import TenantAnalyzers

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]


@dataclass(slots=True)
class FollowedIndex:
    """An index, and how many terms of the vocabulary it was told."""

    index: Index
    terms: int = 0


class SearchedIndex:
    """What searches see of a tenant; the index behind it changes once keywords alone are no longer all there is."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def get_snapshot(self) -> Snapshot:
        return self.index.get_snapshot()

    async def apply(self, change: IndexChange) -> None:
        await self.index.apply(change)

    async def close(self) -> None:
        await self.index.close()


class CatchUp:
    """Of another vocabulary searches learn together with the terms that it made: until all are there, an index stays
    as it is, and questions are cut as its terms were.
    """

    def __init__(self, feed: IndexFeed, retokeniser: Retokeniser, vocabularies: TenantAnalyzers) -> None:
        self._feed = feed
        self._retokeniser = retokeniser
        self._vocabularies = vocabularies

    async def bring_to_head(
        self, tenant: str, held: FollowedIndex, embed: Embed, distrusted: frozenset[str] = frozenset()
    ) -> bool:
        """Moves the index to SQL's revision; False where it is there already. distrusted: chunks that are taken from
        SQL anew, and the vocabulary with them.

        Raises what the embedder or the index raises; the index stays consistent.
        """
        snapshot = held.index.get_snapshot()
        anew = await asyncio.to_thread(snapshot.find_existing, distrusted)
        known = 0 if anew else held.terms
        delta = await self._load_delta(tenant, _build_difference(snapshot, anew), known)
        analyzer = await self._vocabularies.load_analyzer(tenant, delta.vocabulary)
        self._vocabularies.get_history(tenant).note(delta.revision, analyzer)
        if delta.revision == snapshot.revision:
            return False
        vectors = await embed([chunk.indexed_text for chunk, _ in delta.added])
        await held.index.apply(build_index_change(replace(delta, removed=delta.removed | anew), vectors, known))
        held.terms = known + len(delta.new_terms)
        del delta, vectors
        await asyncio.to_thread(release_memory)
        return True

    async def _load_delta(self, tenant: str, lacks: Difference, terms: int) -> IndexDelta:
        """Loads what the index lacks, once all terms are of the tenant's newest vocabulary."""
        while True:
            try:
                return await self._feed.load_missing(tenant, lacks, terms)
            except OutdatedTokens:
                await self._retokeniser.renew(tenant)


def build_index_change(delta: IndexDelta, vectors: Matrix, terms: int = 0) -> IndexChange:
    """Builds what an index applies. vectors: of the added chunks; terms: how many it knows already."""
    added = tuple(IndexedChunk(chunk, vector, ids) for (chunk, ids), vector in zip(delta.added, vectors, strict=True))
    return IndexChange(delta.revision, added, delta.removed, terms, delta.new_terms)


def _build_difference(snapshot: Snapshot, anew: frozenset[str]) -> Difference:
    def find_difference(live: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        lacking, surplus = find_differences(snapshot, live)
        return lacking | (anew & live), surplus

    return find_difference
