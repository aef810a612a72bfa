"""An index whose rows are on a server of their own: of the chunks it keeps ids here, and statistics of words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from knowledge.stores.base import DenseRecall, IndexOptions, StoredRow
from knowledge.stores.statistics import TermStatistics
from knowledge.stores.terms import TermTable
from knowledge.types import Chunk, Filter, Hit, IndexChange, IndexedChunk, Matrix, Vector

_EVERYTHING = Filter()
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
_TIE_DECIMALS = 6
CACHED_ROWS = 2000
"""Rows that were read last; what a search found is asked for again and again until it is answered."""
CANDIDATES, FEWEST_CANDIDATES = 4, 100
"""The server ranks words by the statistics of all its rows, so that many times as many are ranked by the tenant's."""
KEPT_REVISIONS = 50
"""For how many later changes a row that was removed can still be seen by who searches an older revision."""


class RowTable(Protocol):
    """One tenant's rows, each seen by the revisions since <= revision < until. All methods block.

    They raise IndexUnavailable.
    """

    def nearest(self, vector: Vector, k: int, revision: int, where: Filter) -> list[tuple[StoredRow, float]]:
        """The `k` nearest of a revision with their cosines, best first."""

    def matching(self, terms: Sequence[int], k: int, revision: int, where: Filter) -> list[StoredRow]:
        """Up to `k` rows of a revision that hold one of these terms, best first."""

    def live(self, revision: int) -> dict[str, tuple[int, int]]:
        """Key -> since, until of all rows that are not gone at `revision`, later ones included."""

    def raw(self, keys: Sequence[str]) -> list[dict[str, Any]]:
        """Rows by their keys, as they are stored, in any order."""

    def rows(self, keys: Sequence[str]) -> list[StoredRow]:
        """Rows by their keys, in any order."""

    def item(self, added: IndexedChunk, since: int) -> dict[str, Any]:
        """The row of a chunk that came with the revision `since`; its `key` is the same whoever writes it."""

    def write(self, items: Sequence[dict[str, Any]]) -> None:
        """Adds or replaces rows."""

    def purge(self, revision: int) -> None:
        """Removes what was gone at `revision` already."""

    def close(self) -> None:
        """Releases the connection."""


class RowCache:
    """The rows that were read last, by key. For threads."""

    def __init__(self, table: RowTable) -> None:
        self._table, self._lock = table, Lock()
        self._rows: LRUCache[str, StoredRow] = LRUCache(CACHED_ROWS)

    def keep(self, rows: Sequence[StoredRow]) -> None:
        """Puts in what came with a search."""
        with self._lock:
            self._rows.update({row.key: row for row in rows})

    def get(self, keys: Sequence[str]) -> list[StoredRow]:
        """In that order, from the table where they are not here."""
        with self._lock:
            found = {key: row for key in keys if (row := self._rows.get(key)) is not None}
        if missing := [key for key in dict.fromkeys(keys) if key not in found]:
            read = self._table.rows(missing)
            self.keep(read)
            found |= {row.key: row for row in read}
        return [found[key] for key in keys]


@dataclass(frozen=True, slots=True)
class Totals:
    """Of all rows of a revision together. total: the sum of their embeddings; bare: how many have none."""

    statistics: TermStatistics
    total: NDArray[np.float64]
    bare: int = 0

    def changed(self, added: Sequence[IndexedChunk], gone: Sequence[StoredRow]) -> Totals:
        """Those of a revision that has these rows more and those less."""
        total, bare = self.total.copy(), self.bare
        for sign, vectors in ((1, [item.vector for item in added]), (-1, [row.vector for row in gone])):
            for vector in vectors:
                if len(vector):
                    total += sign * vector
                else:
                    bare += sign
        statistics = self.statistics.changed([item.terms for item in added], [row.terms for row in gone])
        return Totals(statistics, total, bare)


class RemoteSnapshot:
    """One revision. keys: chunk id -> key of its row."""

    def __init__(self, revision: int, keys: Mapping[str, str], totals: Totals, of: RemoteIndex) -> None:
        self.revision, self.keys, self.totals, self.statistics = revision, keys, totals, totals.statistics
        total = totals.total[: 0 if totals.bare else None]
        self.centre: Vector = (total / max(len(keys), 1)).astype(np.float32)
        self._of = of

    def __len__(self) -> int:
        return len(self.keys)

    def ids(self) -> frozenset[str]:
        return frozenset(self.keys)

    def chunk(self, chunk_id: str) -> Chunk:
        return self._rows([chunk_id])[0].chunk

    async def dense(self, vector: Vector, k: int, where: Filter = _EVERYTHING) -> list[Hit]:
        if not self.keys:
            return []
        found = await self._of.run(self._of.table.nearest, vector, k, self.revision, where)
        self._of.recalls[DenseRecall.HNSW] += 1
        return self._ranked(found, k)

    async def lexical(self, terms: Sequence[str], k: int, where: Filter = _EVERYTHING) -> list[Hit]:
        known = self.statistics.known(terms)
        if not known:
            return []
        wanted = max(CANDIDATES * k, FEWEST_CANDIDATES)
        rows = await self._of.run(self._of.table.matching, known, wanted, self.revision, where)
        scored = [(row, self.statistics.score(terms, row.terms)) for row in rows]
        return self._ranked([(row, score) for row, score in scored if score > 0], k)

    def vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        if not chunk_ids:
            return np.zeros((0, len(self.centre)), np.float32)
        return np.stack([row.vector for row in self._rows(chunk_ids)])

    def cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = self.vectors(chunk_ids) @ vector
        return cosines

    def centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self.cosines(self.centre, chunk_ids)

    def bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        return [self.statistics.score(terms, row.terms) for row in self._rows(chunk_ids)]

    def bm25_of(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        return self.statistics.score_of(terms, tokens)

    def idf(self, terms: Sequence[str]) -> list[float]:
        return self.statistics.idf(terms)

    def frequencies(self) -> dict[str, int]:
        return self.statistics.frequencies()

    def _rows(self, chunk_ids: Sequence[str]) -> list[StoredRow]:
        return self._of.cache.get([self.keys[chunk_id] for chunk_id in chunk_ids])

    def _ranked(self, scored: Sequence[tuple[StoredRow, float]], k: int) -> list[Hit]:
        """Best first, ties in the order of documents; rows whose key is another's by now are of no revision."""
        self._of.cache.keep([row for row, _ in scored])
        own = [(row.chunk, score) for row, score in scored if self.keys.get(row.chunk.id) == row.key]
        own.sort(key=lambda pair: (-round(pair[1], _TIE_DECIMALS), pair[0].document.name, pair[0].ordinal, pair[0].id))
        return [Hit(chunk.id, score) for chunk, score in own[:k]]


class RemoteIndex:
    """Writes the rows of a change, then moves to its revision. See `Index`."""

    def __init__(self, table: RowTable, dimension: int, options: IndexOptions) -> None:
        self.table, self.cache, self.recalls = table, RowCache(table), options.recalls
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="recall")
        self._vocabulary = TermTable()
        totals = Totals(TermStatistics(np.zeros(0, np.int32), 0, 0, self._vocabulary), np.zeros(dimension))
        self._snapshot = RemoteSnapshot(-1, {}, totals, self)

    def snapshot(self) -> RemoteSnapshot:
        return self._snapshot

    async def run(self, call: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs) -> _Found:
        """In a thread of this index."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *given, **named))

    async def apply(self, change: IndexChange) -> None:
        await asyncio.to_thread(self._apply, change)

    def _apply(self, change: IndexChange) -> None:
        self._vocabulary.extend(change.first_term, change.new_terms)
        old, revision = self._snapshot, change.revision
        added = {item.chunk.id: item for item in change.added}
        items = {chunk_id: self.table.item(item, revision) for chunk_id, item in added.items()}
        new = {chunk_id: item for chunk_id, item in items.items() if item["key"] != old.keys.get(chunk_id)}
        left = [name for name in (*new, *(change.removed - added.keys())) if name in old.keys]
        gone = self.table.rows([old.keys[name] for name in left])
        keys = {name: key for name, key in old.keys.items() if name not in change.removed}
        keys |= {name: item["key"] for name, item in items.items()}
        self._write(list(new.values()), [row.key for row in gone], set(keys.values()), revision)
        totals = old.totals.changed([added[name] for name in new], gone)
        self._snapshot = RemoteSnapshot(revision, keys, totals, self)
        self.table.purge(revision - KEPT_REVISIONS)

    def _write(self, new: list[dict[str, Any]], gone: list[str], kept: set[str], revision: int) -> None:
        """What other processes wrote stays as far as it is of the same or a later revision."""
        if self._snapshot.revision < 0:  # just opened: a kill may have left it behind or ahead
            stored = self.table.live(revision)
            gone = [key for key, (since, _) in stored.items() if since <= revision and key not in kept]
        else:
            stored = {item["key"]: (item["since"], item["until"]) for item in self.table.raw([i["key"] for i in new])}
        missing = []
        for item in new:
            since, until = stored.get(item["key"], (revision + 1, revision))
            if until <= revision:  # it was never there, or was removed before
                missing.append(item)
            elif since > revision:
                missing.append(item | {"until": until})
        self.table.write(missing)
        closed = [item for item in self.table.raw(gone) if item["since"] <= revision < item["until"]]
        self.table.write([item | {"until": revision} for item in closed])

    async def close(self) -> None:
        self._threads.shutdown()
        self.table.close()
