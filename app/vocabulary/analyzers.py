"""The analyzers of all tenants, in the versions that are in use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from cachetools import LRUCache

from app.db.engine import Database
from app.vocabulary import repository
from knowledge.text import Analyzer
from knowledge.vocabulary import NO_VOCABULARY, AnalyzerRevisions, TenantVocabulary

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Analyzers, of all tenants: 26 KB each with 100 words, 1.2 MB with 5,000.
KEPT = 64


class TenantAnalyzers:
    """version_of: the newest version of a tenant's vocabulary."""

    def __init__(self, database: Database, version_of: Callable[[Connection, str], int]) -> None:
        self._database = database
        self._version_of = version_of
        self._plain = Analyzer()
        self._built: LRUCache[tuple[str, int], Analyzer] = LRUCache(KEPT)
        self._histories: dict[str, AnalyzerRevisions] = {}

    async def load_newest(self, tenant: str) -> Analyzer:
        """Loads the analyzer of the tenant's newest vocabulary, which its index may not have yet."""
        version = await self._database.run_in_reader(self._version_of, tenant)
        return await self.load_analyzer(tenant, version)

    async def load_analyzer(self, tenant: str, version: int) -> Analyzer:
        """Loads the analyzer of one version; that of version 0 is everybody's."""
        if version == 0:
            return self._plain
        if (known := self._built.get((tenant, version))) is not None:
            return known
        vocabulary = await self.load_vocabulary(tenant, version)
        return self._built.setdefault((tenant, version), await asyncio.to_thread(vocabulary.build_analyzer))

    async def load_vocabulary(self, tenant: str, version: int) -> TenantVocabulary:
        """Loads what one version contained."""
        if version == 0:
            return NO_VOCABULARY
        found = await self._database.run_in_reader(repository.load_at, tenant, version)
        return TenantVocabulary(version, tuple(stored.entry for stored in found))

    def get_history(self, tenant: str) -> AnalyzerRevisions:
        """Returns which analyzer the tenant's index had at which revision."""
        return self._histories.setdefault(tenant, AnalyzerRevisions(self._plain))
