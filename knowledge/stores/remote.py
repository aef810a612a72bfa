"""An index whose rows are on a server of their own: nothing is kept here that grows with the base."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from knowledge.buckets import COUNT, Buckets
from knowledge.filters import EVERYTHING, Filter
from knowledge.stores.base import DenseRecall, IndexOptions, StoredRow
from knowledge.stores.rows import KEPT_REVISIONS, RowCache, RowTable, TermCache
from knowledge.stores.statistics import NOTHING, TermStatistics
from knowledge.stores.writing import RevisionStep, everything, step
from knowledge.types import Chunk, Hit, IndexChange, Matrix, TermIds, Vector

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
_TIE_DECIMALS = 6
SAMPLED, FEWEST_SAMPLED = 1.2, 1000
"""Chunks do not fall into buckets evenly: so many times as many are asked for as a sample is to have."""
CANDIDATES, FEWEST_CANDIDATES = 4, 100
"""The server ranks words by the statistics of all its rows, so that many times as many are ranked by the tenant's."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Of all rows of a revision together. buckets: which chunks they are of; total: the sum of their embeddings; bare:
    how many have none.
    """

    buckets: Buckets
    statistics: TermStatistics
    total: NDArray[np.float64]
    bare: int = 0

    @classmethod
    def none(cls, dimension: int) -> Totals:
        """Of an empty base."""
        return cls(Buckets.of(()), NOTHING, np.zeros(dimension))

    def changed(self, done: RevisionStep) -> Totals:
        """Those of the revision that a step leads to."""
        total, bare = self.total.copy(), self.bare
        for sign, vectors in ((1, [item.vector for item in done.new]), (-1, [row.vector for row in done.gone])):
            for vector in vectors:
                if len(vector):
                    total += sign * vector
                else:
                    bare += sign
        tokens = sum(len(item.terms) for item in done.new) - sum(len(row.terms) for row in done.gone)
        chunks = len(done.new) - len(done.gone)
        statistics = self.statistics.changed(chunks, tokens, done.old_counts, done.new_counts)
        came, went = ({each.chunk.id for each in rows} for rows in (done.new, done.gone))
        return Totals(self.buckets.toggled(came ^ went), statistics, total, bare)


class RemoteSnapshot:
    """One revision: totals, and what was read last of it.

    Other processes write the same rows. While one of them is at a revision that this process passed over, a chunk that
    came with it and went before this revision may be seen here, or one be missing that went and came back; until then
    alone, or the next start if it was killed there.
    """

    def __init__(self, revision: int, totals: Totals, rows: RowCache, terms: TermCache, of: RemoteIndex) -> None:
        self.revision, self.totals, self.rows, self.terms = revision, totals, rows, terms
        total = totals.total[: 0 if totals.bare else None]
        self.centre: Vector = (total / max(len(self), 1)).astype(np.float32)
        self._of = of

    def __len__(self) -> int:
        return self.totals.statistics.chunks

    @property
    def buckets(self) -> Buckets:
        return self.totals.buckets

    def ids(self, within: Collection[int] | None = None) -> frozenset[str]:
        if not len(self) or (within is not None and not within):
            return frozenset()
        return frozenset(self._of.table.ids(self.revision, within))

    def walk(self, within: Collection[int] | None = None) -> Iterator[Chunk]:
        return self._of.table.chunks(self.revision, within) if len(self) else iter(())

    def sample(self, count: int) -> list[Chunk]:
        wanted = max(SAMPLED * count, FEWEST_SAMPLED)
        within = None if wanted >= len(self) else range(int(COUNT * wanted / len(self)) + 1)
        chunks = {chunk.id: chunk for chunk in self._of.table.chunks(self.revision, within)} if len(self) else {}
        return [chunks[name] for name in sorted(chunks)[:: -(-len(chunks) // count) or 1]]

    def holding(self, chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset(self._of.table.holding(self.revision, chunk_ids)) if chunk_ids else frozenset()

    def of_documents(self, document_ids: Collection[str]) -> frozenset[str]:
        return frozenset(self._of.table.of_documents(self.revision, document_ids)) if document_ids else frozenset()

    def chunk(self, chunk_id: str) -> Chunk:
        return self.rows.get([chunk_id])[0].chunk

    async def dense(self, vector: Vector, k: int, where: Filter = EVERYTHING) -> list[Hit]:
        if not len(self):
            return []
        found = await self._of.run(self._of.table.nearest, vector, k, self.revision, where)
        self._of.recalls[DenseRecall.HNSW] += 1
        return self._ranked(found, k)

    async def lexical(self, terms: Sequence[str], k: int, where: Filter = EVERYTHING) -> list[Hit]:
        return await self._of.run(self._worded, terms, k, where)

    def vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        if not chunk_ids:
            return np.zeros((0, len(self.centre)), np.float32)
        return np.stack([row.vector for row in self.rows.get(chunk_ids)])

    def cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = self.vectors(chunk_ids) @ vector
        return cosines

    def centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self.cosines(self.centre, chunk_ids)

    def bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        asked = self._asked(terms)
        return [asked.score(row.terms) for row in self.rows.get(chunk_ids)]

    def bm25_of(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        if not terms or not tokens:
            return 0.0
        counts = np.array([tokens.count(term) for term in terms])
        return self.totals.statistics.score(counts, np.array(self.idf(terms)), len(tokens))

    def idf(self, terms: Sequence[str]) -> list[float]:
        idf: list[float] = self.totals.statistics.idf([count for _, count in self.terms.get(terms)]).tolist()
        return idf

    def frequencies(self) -> dict[str, int]:
        rows = self._of.table.all_terms() if len(self) else ()
        return {row.term: count for row in rows if (count := row.at(self.revision))}

    def frequent(self, count: int) -> dict[str, int]:
        least = self.totals.statistics.spread.least(count)
        rows = self._of.table.frequent_terms(least) if len(self) else ()
        return {row.term: found for row in rows if (found := row.at(self.revision)) >= least}

    def _worded(self, terms: Sequence[str], k: int, where: Filter) -> list[Hit]:
        asked = self._asked(terms)
        if not asked.numbers:
            return []
        wanted = max(CANDIDATES * k, FEWEST_CANDIDATES)
        rows = self._of.table.matching(asked.numbers, wanted, self.revision, where)
        scored = [(row, asked.score(row.terms)) for row in rows]
        return self._ranked([(row, score) for row, score in scored if score > 0], k)

    def _asked(self, terms: Sequence[str]) -> _Asked:
        occurring = [(number, count) for number, count in self.terms.get(terms) if count]
        numbers, counts = [number for number, _ in occurring], [count for _, count in occurring]
        return _Asked(numbers, self.totals.statistics.idf(counts), self.totals.statistics)

    def _ranked(self, scored: Sequence[tuple[StoredRow, float]], k: int) -> list[Hit]:
        """Best first, ties in the order of documents."""
        self.rows.keep([row for row, _ in scored])
        own = {row.chunk.id: (row.chunk, score) for row, score in scored}  # two processes may have written one each
        ranked = sorted(own.values(), key=_rank)
        return [Hit(chunk.id, score) for chunk, score in ranked[:k]]


def _rank(scored: tuple[Chunk, float]) -> tuple[float, str, int, str]:
    chunk, score = scored
    return -round(score, _TIE_DECIMALS), chunk.document.name, chunk.ordinal, chunk.id


@dataclass(frozen=True, slots=True)
class _Asked:
    """Those terms of a question that occur: ids, with repetitions, and idf of each."""

    numbers: list[int]
    idf: NDArray[np.float64]
    statistics: TermStatistics

    def score(self, document: TermIds) -> float:
        """BM25 of a chunk."""
        if not self.numbers or not len(document):
            return 0.0
        counts = (document[:, np.newaxis] == np.array(self.numbers)).sum(axis=0)
        return self.statistics.score(counts, self.idf, len(document))


class RemoteIndex:
    """Writes the rows of a change, then moves to its revision. See `Index`."""

    def __init__(self, table: RowTable, dimension: int, options: IndexOptions) -> None:
        self.table, self.recalls = table, options.recalls
        self._dimension = dimension
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="recall")
        self._snapshot = RemoteSnapshot(-1, Totals.none(dimension), RowCache(table, -1), TermCache(table, -1), self)

    def snapshot(self) -> RemoteSnapshot:
        return self._snapshot

    async def run(self, call: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs) -> _Found:
        """In a thread of this index."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *given, **named))

    async def apply(self, change: IndexChange) -> None:
        await asyncio.to_thread(self._apply, change)

    def _apply(self, change: IndexChange) -> None:
        """All rows are compared with what they have to be just after opening, when a kill may have left them behind or
        ahead, and when a change brings all of them.
        """
        old, revision = self._snapshot, change.revision
        if self._is_whole(change):
            done = everything(self.table, change)
            totals = Totals.none(self._dimension).changed(done)
            rows, terms = RowCache(self.table, revision), TermCache(self.table, revision)
        else:
            done = step(self.table, old.revision, change)
            totals = old.totals.changed(done)
            rows = old.rows.at(revision, change.removed.union(item.chunk.id for item in change.added))
            terms = old.terms.at(revision, frozenset(done.terms))
        self._snapshot = RemoteSnapshot(revision, totals, rows, terms, self)
        self.table.purge(revision - KEPT_REVISIONS)

    def _is_whole(self, change: IndexChange) -> bool:
        """Whether all chunks of the new revision, and all terms, are in the change."""
        old = self._snapshot
        if old.revision < 0 or change.first_term:
            return old.revision < 0
        named = change.removed.union(item.chunk.id for item in change.added)
        return len(named) >= len(old) and old.ids() <= named

    async def close(self) -> None:
        self._threads.shutdown()
        self.table.close()
