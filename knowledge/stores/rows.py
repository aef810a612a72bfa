"""Rows that a server stores for an index, and caches of those that were read last."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

from knowledge.stores.base import StoredRow

if TYPE_CHECKING:
    from knowledge.stores.milvus import MilvusTable

# Rows that were read last; what a search found is asked for again and again until it is answered.
CACHED_ROWS = 2000
# Terms that were asked for last, 300 bytes each.
CACHED_TERMS = 5000
# Rows that are read together; more of them are a pass over the base, and do not push out what searches found.
AT_ONCE = 200
# For how many later changes a row that was removed can still be seen by who searches an older revision.
KEPT_REVISIONS = 50
# `until` of a row that no change has removed.
FOREVER = 2**62


@dataclass(frozen=True, slots=True)
class RowLifetime:
    """Identifies a row and says which revisions see it: `since` <= revision < `until`.

    chunk: identifies its chunk; content: identifies its content among the rows of that chunk.
    """

    key: str
    chunk: str
    content: str
    since: int
    until: int

    def is_seen_by(self, revision: int) -> bool:
        """Returns whether this revision sees the row."""
        return self.since <= revision < self.until


@dataclass(frozen=True, slots=True)
class TermRow:
    """A term, its id, and its document frequency: from which revision on in how many chunks it occurs, rising."""

    term: str
    number: int
    history: tuple[tuple[int, int], ...] = ()

    def count_at(self, revision: int) -> int:
        """Returns in how many chunks of that revision the term occurs."""
        return next((count for since, count in reversed(self.history) if since <= revision), 0)

    def record_count(self, revision: int, count: int) -> TermRow:
        """Returns a copy with the count of a revision; counts that no revision sees any more are dropped."""
        if self.count_at(revision) == count:
            return self
        known = sorted((dict(self.history) | {revision: count}).items())
        oldest = max((since for since, _ in known if since <= revision - KEPT_REVISIONS), default=known[0][0])
        return TermRow(self.term, self.number, tuple(entry for entry in known if entry[0] >= oldest))


class RowCache:
    """The rows of one revision that were read last, by chunk. Safe to use from several threads."""

    def __init__(self, table: MilvusTable, revision: int) -> None:
        self._table, self._revision, self._lock = table, revision, Lock()
        self._rows: LRUCache[str, StoredRow] = LRUCache(CACHED_ROWS)

    def keep(self, rows: Sequence[StoredRow]) -> None:
        """Adds the rows that came with a search."""
        with self._lock:
            self._rows.update({row.chunk.id: row for row in rows})

    def get_rows(self, chunk_ids: Sequence[str]) -> list[StoredRow]:
        """Returns rows in the order of the ids, from the table if they are not cached.

        Raises:
            KeyError: If a chunk is unknown.
            IndexUnavailable: If the server fails.
        """
        with self._lock:
            found = {name: row for name in chunk_ids if (row := self._rows.get(name)) is not None}
        if missing := [name for name in dict.fromkeys(chunk_ids) if name not in found]:
            starts = range(0, len(missing), AT_ONCE)
            read = [row for start in starts for row in self._read_rows(missing[start : start + AT_ONCE])]
            if len(missing) <= AT_ONCE:
                self.keep(read)
            found |= {row.chunk.id: row for row in read}
        return [found[name] for name in chunk_ids]

    def _read_rows(self, chunk_ids: Sequence[str]) -> Iterator[StoredRow]:
        for item in self._table.get_chunk_rows(chunk_ids, self._revision):
            if self._table.read_lifetime(item).is_seen_by(self._revision):
                yield self._table.read_row(item)

    def copy_for_revision(self, revision: int, changed: Collection[str]) -> RowCache:
        """Returns the cache for a later revision, without the chunks that changed."""
        later = RowCache(self._table, revision)
        with self._lock:
            later.keep([row for name, row in self._rows.items() if name not in changed])
        return later


class TermCache:
    """Ids and document frequencies, in one revision, of the terms asked for last. Safe to use from several threads."""

    def __init__(self, table: MilvusTable, revision: int) -> None:
        self._table, self._revision, self._lock = table, revision, Lock()
        self._found: LRUCache[str, tuple[int, int]] = LRUCache(CACHED_TERMS)

    def get_terms(self, terms: Sequence[str]) -> list[tuple[int, int]]:
        """Returns id and document frequency of each term, in their order; (-1, 0) for a term that no chunk ever had.

        Raises:
            IndexUnavailable: If the server fails.
        """
        with self._lock:
            found = {term: known for term in terms if (known := self._found.get(term)) is not None}
        if missing := [term for term in dict.fromkeys(terms) if term not in found]:
            read = dict.fromkeys(missing, (-1, 0))
            read |= {row.term: (row.number, row.count_at(self._revision)) for row in self._table.find_terms(missing)}
            with self._lock:
                self._found.update(read)
            found |= read
        return [found[term] for term in terms]

    def copy_for_revision(self, revision: int, changed: Collection[str]) -> TermCache:
        """Returns the cache for a later revision, without the terms whose frequency changed."""
        later = TermCache(self._table, revision)
        with self._lock:
            later._found.update({term: known for term, known in self._found.items() if term not in changed})
        return later
