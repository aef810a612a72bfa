"""Suggestions for a vocabulary, made when they are asked for and kept while the knowledge base stays as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from cachetools import TTLCache

from app.vocabulary.suggestion_finder import MAX_CHUNKS, VocabularySuggestion, find_suggestions

if TYPE_CHECKING:
    from app.vocabulary.analyzers import TenantAnalyzers
    from app.vocabulary.service import VocabularyService
    from knowledge.index import Index

# Questions come in meanwhile that nobody could answer.
KEPT_SECONDS = 300


class Suggestions:
    """index: opens a tenant's; missed: questions that were not answered, and how often each was asked."""

    def __init__(
        self,
        vocabulary: VocabularyService,
        analyzers: TenantAnalyzers,
        index: Callable[[str], Awaitable[Index]],
        missed: Callable[[str], Awaitable[list[tuple[str, int]]]],
    ) -> None:
        self._vocabulary = vocabulary
        self._analyzers = analyzers
        self._index = index
        self._missed = missed
        self._made: TTLCache[tuple[str, int], list[VocabularySuggestion]] = TTLCache(64, KEPT_SECONDS)
        self._making = asyncio.Lock()

    async def get_suggestions(self, tenant: str) -> list[VocabularySuggestion]:
        """Returns the best suggestions of each kind. The first call takes some seconds of a thread, one tenant after
        the other.
        """
        snapshot = (await self._index(tenant)).get_snapshot()
        key = tenant, snapshot.revision
        async with self._making:
            if key not in self._made:
                chunks = await asyncio.to_thread(snapshot.sample, MAX_CHUNKS)
                analyzer = self._analyzers.get_history(tenant).get_analyzer(snapshot.revision)
                known = [stored.entry.term for stored in await self._vocabulary.list_all(tenant)]
                asked = await self._missed(tenant)
                self._made[key] = await asyncio.to_thread(find_suggestions, chunks, analyzer, asked, known)
            return self._made[key]
