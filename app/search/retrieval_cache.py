"""Results of searches, behind the cache of answers: it serves questions that are asked in the middle of a talk too."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import replace

from cachetools import TTLCache

from app.privacy import find_personal_data
from knowledge.filters import Filter
from knowledge.types import Context, Retrieval

# The last is the digest of a page.
Scope = Filter | Context | str


class RetrievalCache:
    """One tenant's, entries of about 2 kB each: the chunks belong to the index. ttl: seconds, size: entries; 0 turns it
    off.
    """

    def __init__(self, ttl: float, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._entries: TTLCache[Hashable, Retrieval] = TTLCache(size if ttl else 0, ttl, clock)
        self.hits = self.misses = 0

    def __len__(self) -> int:
        self._entries.expire()
        return len(self._entries)

    def get(self, version: Hashable, question: str, rewrite: str | None, *scope: Scope) -> Retrieval | None:
        """Returns what the same search found at this version, without timings; None if nothing is kept.

        scope: everything else that the search depends on.
        """
        found = self._entries.get((version, question, rewrite, *scope))
        if found is None:
            self.misses += 1
            return None
        self.hits += 1
        return replace(found, timings_ms={})

    def put(self, version: Hashable, rewrite: str | None, found: Retrieval, *scope: Scope) -> None:
        """Keeps it, unless something was out of order, or the question or what was read of a page holds personal
        data.
        """
        seen = [candidate.chunk.text for candidate in found.candidates if candidate.chunk.is_in_view]
        if (
            self._entries.maxsize
            and not found.degraded
            and not find_personal_data("\n".join([found.question, rewrite or "", *seen]))
        ):
            self._entries[(version, found.question, rewrite, *scope)] = found

    def clear(self, keep: Callable[[Retrieval], bool] = lambda _: False) -> int:
        """Forgets all entries but those to keep; returns how many."""
        self._entries.expire()
        stale = [key for key, found in self._entries.items() if not keep(found)]
        for key in stale:
            del self._entries[key]
        return len(stale)
