"""An index whose rows are on a server: nothing is kept in this process that grows with the base."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from knowledge.buckets import COUNT, Buckets
from knowledge.filters import EVERYTHING, Filter
from knowledge.stores.base import DenseRecall, IndexOptions, StoredRow
from knowledge.stores.revision_writer import RevisionStep, write_all, write_change
from knowledge.stores.rows import KEPT_REVISIONS, RowCache, TermCache
from knowledge.stores.statistics import NOTHING, TermStatistics
from knowledge.types import Chunk, Hit, IndexChange, Matrix, TermIds, Vector

if TYPE_CHECKING:
    from knowledge.stores.milvus import MilvusTable

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")
_TIE_DECIMALS = 6
# Chunks do not fall into buckets evenly: so many times as many are asked for as a sample is to have.
SAMPLED, FEWEST_SAMPLED = 1.2, 1000
# The server ranks words by the statistics of all its rows, so that many times as many are ranked by the tenant's.
CANDIDATES, FEWEST_CANDIDATES = 4, 100


@dataclass(frozen=True, slots=True)
class Totals:
    """What is known of all rows of a revision together.

    buckets: fingerprint of the chunks; total: sum of their embeddings; bare: how many have none.
    """

    buckets: Buckets
    statistics: TermStatistics
    total: NDArray[np.float64]
    bare: int = 0

    @classmethod
    def empty(cls, dimension: int) -> Totals:
        """Returns the totals of an empty base."""
        return cls(Buckets.from_ids(()), NOTHING, np.zeros(dimension))

    def build_next(self, done: RevisionStep) -> Totals:
        """Returns the totals of the revision that a step leads to."""
        total, bare = self.total.copy(), self.bare
        for sign, vectors in ((1, [item.vector for item in done.new]), (-1, [row.vector for row in done.gone])):
            for vector in vectors:
                if len(vector):
                    total += sign * vector
                else:
                    bare += sign
        tokens = sum(len(item.terms) for item in done.new) - sum(len(row.terms) for row in done.gone)
        chunks = len(done.new) - len(done.gone)
        statistics = self.statistics.build_next(chunks, tokens, done.old_counts, done.new_counts)
        came, went = ({each.chunk.id for each in rows} for rows in (done.new, done.gone))
        return Totals(self.buckets.toggle(came ^ went), statistics, total, bare)


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

    def list_ids(self, within: Collection[int] | None = None) -> frozenset[str]:
        if not len(self) or (within is not None and not within):
            return frozenset()
        return frozenset(self._of.table.list_ids(self.revision, within))

    def walk(self, within: Collection[int] | None = None) -> Iterator[Chunk]:
        return self._of.table.walk_chunks(self.revision, within) if len(self) else iter(())

    def sample(self, count: int) -> list[Chunk]:
        wanted = max(SAMPLED * count, FEWEST_SAMPLED)
        within = None if wanted >= len(self) else range(int(COUNT * wanted / len(self)) + 1)
        chunks = {chunk.id: chunk for chunk in self._of.table.walk_chunks(self.revision, within)} if len(self) else {}
        return [chunks[name] for name in sorted(chunks)[:: -(-len(chunks) // count) or 1]]

    def find_existing(self, chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset(self._of.table.find_existing(self.revision, chunk_ids)) if chunk_ids else frozenset()

    def list_ids_of_documents(self, document_ids: Collection[str]) -> frozenset[str]:
        if not document_ids:
            return frozenset()
        return frozenset(self._of.table.list_ids_of_documents(self.revision, document_ids))

    def get_chunk(self, chunk_id: str) -> Chunk:
        return self.rows.get_rows([chunk_id])[0].chunk

    async def search_dense(self, vector: Vector, k: int, where: Filter = EVERYTHING) -> list[Hit]:
        if not len(self):
            return []
        found = await self._of.run(self._of.table.search_nearest, vector, k, self.revision, where)
        self._of.recalls[DenseRecall.HNSW] += 1
        return self._rank_hits(found, k)

    async def search_lexical(self, terms: Sequence[str], k: int, where: Filter = EVERYTHING) -> list[Hit]:
        return await self._of.run(self._search_lexical, terms, k, where)

    def get_vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        if not chunk_ids:
            return np.zeros((0, len(self.centre)), np.float32)
        return np.stack([row.vector for row in self.rows.get_rows(chunk_ids)])

    def compute_cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = self.get_vectors(chunk_ids) @ vector
        return cosines

    def compute_centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self.compute_cosines(self.centre, chunk_ids)

    def score_bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        numbers = self._look_up_terms(terms)
        return [numbers.score_document(row.terms) for row in self.rows.get_rows(chunk_ids)]

    def score_tokens(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        if not terms or not tokens:
            return 0.0
        counts = np.array([tokens.count(term) for term in terms])
        return self.totals.statistics.score(counts, np.array(self.get_idf(terms)), len(tokens))

    def get_idf(self, terms: Sequence[str]) -> list[float]:
        idf: list[float] = self.totals.statistics.compute_idf(
            [count for _, count in self.terms.get_terms(terms)]
        ).tolist()
        return idf

    def get_frequencies(self) -> dict[str, int]:
        rows = self._of.table.list_terms() if len(self) else ()
        return {row.term: count for row in rows if (count := row.count_at(self.revision))}

    def list_frequent_terms(self, count: int) -> dict[str, int]:
        least = self.totals.statistics.spread.find_least_frequency(count)
        rows = self._of.table.list_frequent_terms(least) if len(self) else ()
        return {row.term: found for row in rows if (found := row.count_at(self.revision)) >= least}

    def _search_lexical(self, terms: Sequence[str], k: int, where: Filter) -> list[Hit]:
        numbers = self._look_up_terms(terms)
        if not numbers.numbers:
            return []
        wanted = max(CANDIDATES * k, FEWEST_CANDIDATES)
        rows = self._of.table.search_matching(numbers.numbers, wanted, self.revision, where)
        scored = [(row, numbers.score_document(row.terms)) for row in rows]
        return self._rank_hits([(row, score) for row, score in scored if score > 0], k)

    def _look_up_terms(self, terms: Sequence[str]) -> _QueryTerms:
        occurring = [(number, count) for number, count in self.terms.get_terms(terms) if count]
        numbers, counts = [number for number, _ in occurring], [count for _, count in occurring]
        return _QueryTerms(numbers, self.totals.statistics.compute_idf(counts), self.totals.statistics)

    def _rank_hits(self, scored: Sequence[tuple[StoredRow, float]], k: int) -> list[Hit]:
        """Returns hits, best first, ties in the order of documents."""
        self.rows.keep([row for row, _ in scored])
        own = {row.chunk.id: (row.chunk, score) for row, score in scored}  # two processes may have written one each
        ranked = sorted(own.values(), key=_get_rank)
        return [Hit(chunk.id, score) for chunk, score in ranked[:k]]


def _get_rank(scored: tuple[Chunk, float]) -> tuple[float, str, int, str]:
    chunk, score = scored
    return -round(score, _TIE_DECIMALS), chunk.document.name, chunk.ordinal, chunk.id


@dataclass(frozen=True, slots=True)
class _QueryTerms:
    """The terms of a question that occur in the base: their ids, with repetitions, and the idf of each."""

    numbers: list[int]
    idf: NDArray[np.float64]
    statistics: TermStatistics

    def score_document(self, document: TermIds) -> float:
        """Returns the BM25 of a chunk."""
        if not self.numbers or not len(document):
            return 0.0
        counts = (document[:, np.newaxis] == np.array(self.numbers)).sum(axis=0)
        return self.statistics.score(counts, self.idf, len(document))


class RemoteIndex:
    """Writes the rows of a change, then moves to its revision. See `Index`."""

    def __init__(self, table: MilvusTable, dimension: int, options: IndexOptions) -> None:
        self.table, self.recalls = table, options.recalls
        self._dimension = dimension
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="recall")
        self._snapshot = RemoteSnapshot(-1, Totals.empty(dimension), RowCache(table, -1), TermCache(table, -1), self)

    def get_snapshot(self) -> RemoteSnapshot:
        return self._snapshot

    async def run(self, call: Callable[_Given, _Found], *given: _Given.args, **named: _Given.kwargs) -> _Found:
        """Runs a function in a thread of this index."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(call, *given, **named))

    async def apply(self, change: IndexChange) -> None:
        await asyncio.to_thread(self._apply_change, change)

    def _apply_change(self, change: IndexChange) -> None:
        """Writes the rows of a change.

        All rows are compared with what they should be just after opening, when a kill may have left them behind or
        ahead, and when a change brings all of them.
        """
        old, revision = self._snapshot, change.revision
        if self._is_whole(change):
            done = write_all(self.table, change)
            totals = Totals.empty(self._dimension).build_next(done)
            rows, terms = RowCache(self.table, revision), TermCache(self.table, revision)
        else:
            done = write_change(self.table, old.revision, change)
            totals = old.totals.build_next(done)
            rows = old.rows.copy_for_revision(revision, change.removed.union(item.chunk.id for item in change.added))
            terms = old.terms.copy_for_revision(revision, frozenset(done.terms))
        self._snapshot = RemoteSnapshot(revision, totals, rows, terms, self)
        self.table.purge(revision - KEPT_REVISIONS)

    def _is_whole(self, change: IndexChange) -> bool:
        """Returns whether a change contains all chunks of the new revision, and all terms."""
        old = self._snapshot
        if old.revision < 0 or change.first_term:
            return old.revision < 0
        named = change.removed.union(item.chunk.id for item in change.added)
        return len(named) >= len(old) and old.list_ids() <= named

    async def close(self) -> None:
        self._threads.shutdown()
        self.table.close()
