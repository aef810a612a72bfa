"""The embedded index: a vector store composed with our BM25, one immutable snapshot per revision."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from operator import attrgetter
from threading import Lock

import numpy as np
from loguru import logger
from numpy.typing import NDArray

from knowledge.buckets import Buckets, find_bucket
from knowledge.errors import IndexUnavailable
from knowledge.filters import EVERYTHING, Filter
from knowledge.stores.base import DenseRecall, IndexOptions, VectorStore
from knowledge.stores.facets import Facets, Rows
from knowledge.stores.lexical import LexicalIndex
from knowledge.stores.matrix import compute_products, select_rows
from knowledge.stores.packed_chunks import PackedChunks
from knowledge.stores.recent_results import RecentResults
from knowledge.stores.statistics import TermSpread
from knowledge.stores.terms import TermTable
from knowledge.types import Chunk, Hit, IndexChange, Matrix, Vector

# Ties go by row: the same documents rank alike whatever their ids, which are random, and whenever they came.
_row_order = attrgetter("document.name", "ordinal", "id")
_TIE_DECIMALS = 6
# Of a base above the limit of exact search, a filter that leaves less than this share is searched exactly. Of any
# other the vector store's own answer, WIDENED, is likely to hold enough; its filters cost 42 to 184 ms at 100,000
# chunks.
EXACT_SHARE = 0.2
WIDENED = 3
# Chunks that are kept as objects: one search asks three times for each of its candidates, the next for many again.
OPENED = 400
# Rows that the vector store is given at once.
_PART = 1000
# Where a store lacks more rows as it is opened, it is filled behind, so many at once: 1,000 took 1.3 s on an idle
# machine and 10 s on a busy one, and meanwhile all of them are searched exactly.
BEHIND, _PART_BEHIND = 2000, 200


class LocalSnapshot:
    """Chunks, embeddings and BM25 of one revision, in memory.

    Dense recall is exact up to the limit of the options; beyond it the vector store is asked, unless a filter leaves
    few rows. matrix: in half precision if a store finds the neighbours and only their cosines are computed here.
    """

    def __init__(
        self,
        revision: int,
        chunks: PackedChunks,
        matrix: Matrix,
        lexical: LexicalIndex,
        vectors: VectorStore | None,
        threads: ThreadPoolExecutor,
        options: IndexOptions,
    ) -> None:
        self.revision = revision
        self.chunks = chunks
        self.matrix = matrix
        self.bm25s = lexical
        self.centre: Vector = (
            matrix.mean(axis=0, dtype=np.float32) if len(chunks) else np.zeros(matrix.shape[1], np.float32)
        )
        self._ids = chunks.ids
        self._centrality = compute_products(matrix, self.centre)
        self._row = {chunk_id: row for row, chunk_id in enumerate(chunks.ids)}
        self._facets = Facets(chunks.documents, chunks.document_of)
        self._cosines: RecentResults[bytes, NDArray[np.float32]] = RecentResults()
        self._opened: RecentResults[int, Chunk] = RecentResults(OPENED)
        self._vectors = vectors
        self._threads = threads
        self._recalls = options.recalls
        self.small = len(chunks) <= options.exact_search_max_chunks

    @property
    def is_exact(self) -> bool:
        """Whether neighbours are searched in memory, and not in the vector store."""
        return self.small or self._vectors is None

    def set_store(self, vectors: VectorStore | None) -> None:
        """Sets the vector store that is asked from now on, or None for exact search."""
        self._vectors = vectors

    def __len__(self) -> int:
        return len(self.chunks)

    @cached_property
    def buckets(self) -> Buckets:
        return Buckets.from_ids(self._ids)

    def list_ids(self, within: Collection[int] | None = None) -> frozenset[str]:
        return frozenset(self._row if within is None else filter(lambda name: find_bucket(name) in within, self._ids))

    def walk(self, within: Collection[int] | None = None) -> Iterator[Chunk]:
        return (self.chunks[row] for row, name in enumerate(self._ids) if within is None or find_bucket(name) in within)

    def sample(self, count: int) -> list[Chunk]:
        return [self.get_chunk(name) for name in sorted(self._ids)[:: -(-len(self) // count) or 1]]

    def find_existing(self, chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset(name for name in chunk_ids if name in self._row)

    def list_ids_of_documents(self, document_ids: Collection[str]) -> frozenset[str]:
        rows = self._facets.find_rows(Filter(document_ids=frozenset(document_ids)))
        return frozenset(self._ids[row] for row in rows.tolist()) if document_ids else frozenset()

    def get_chunk(self, chunk_id: str) -> Chunk:
        return self._opened.get(self._row[chunk_id], self.chunks.__getitem__)

    async def search_dense(self, vector: Vector, k: int, where: Filter = EVERYTHING) -> list[Hit]:
        if not len(self):
            return []
        if self.small:
            hits, recall = self._search_dense(vector, k, where)
        else:
            run = asyncio.get_running_loop().run_in_executor
            hits, recall = await run(self._threads, self._search_dense, vector, k, where)
        self._recalls[recall] += 1
        return hits

    async def search_lexical(self, terms: Sequence[str], k: int, where: Filter = EVERYTHING) -> list[Hit]:
        if self.small:
            return self._search_lexical(terms, k, where)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._search_lexical, terms, k, where)

    def get_vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        vectors: Matrix = self.matrix[[self._row[chunk_id] for chunk_id in chunk_ids]].astype(np.float32)
        return vectors

    def compute_cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        rows = [self._row[chunk_id] for chunk_id in chunk_ids]
        known = self._cosines.find(vector.tobytes())
        return compute_products(self.matrix[rows], vector) if known is None else known[rows]

    def compute_centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self._centrality[[self._row[chunk_id] for chunk_id in chunk_ids]]

    def score_bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        scores: list[float] = self.bm25s.score_rows(terms, [self._row[chunk_id] for chunk_id in chunk_ids]).tolist()
        return scores

    def score_tokens(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        return self.bm25s.score_tokens(terms, tokens)

    def get_idf(self, terms: Sequence[str]) -> list[float]:
        return self.bm25s.get_idf(terms)

    def get_frequencies(self) -> dict[str, int]:
        return self.bm25s.get_frequencies()

    def list_frequent_terms(self, count: int) -> dict[str, int]:
        found = self.get_frequencies()
        least = TermSpread.from_frequencies(np.fromiter(found.values(), np.int64, len(found))).find_least_frequency(
            count
        )
        return {term: chunks for term, chunks in found.items() if chunks >= least}

    def _search_dense(self, vector: Vector, k: int, where: Filter) -> tuple[list[Hit], DenseRecall]:
        rows = self._facets.find_rows(where) if where else None
        if not self.small:
            if (found := self._ask_store(vector, k, rows)) is not None:
                return self._build_hits(found, compute_products(self.matrix[found], vector)), DenseRecall.HNSW
            if rows is not None:
                return self._choose_best(
                    compute_products(self.matrix[rows], vector), k, rows, -np.inf
                ), DenseRecall.EXACT
        cosines = self._cosines.get(vector.tobytes(), lambda _: compute_products(self.matrix, vector))
        return self._choose_best(cosines if rows is None else cosines[rows], k, rows, -np.inf), DenseRecall.EXACT

    def _ask_store(self, vector: Vector, k: int, rows: Rows | None) -> Rows | None:
        """Returns the rows that the vector store finds; None if it has no complete answer."""
        count = len(self) if rows is None else len(rows)
        if self._vectors is None or count < EXACT_SHARE * len(self):
            return None
        wanted = k if rows is None else WIDENED * k * len(self) // count
        # The store is one revision ahead during a change: it may hold rows that this view does not know, and no
        # longer hold others, whose places would stay empty.
        try:
            hits = self._vectors.search(vector, wanted)
        except IndexUnavailable as error:
            logger.warning("the vector store does not answer, its rows are searched exactly: {}", error)
            return None
        found = np.array([self._row[hit.chunk_id] for hit in hits if hit.chunk_id in self._row], dtype=np.int64)
        if rows is not None:
            found = found[np.isin(found, rows)]
        return found[:k] if len(found) >= min(k, count) else None

    def _search_lexical(self, terms: Sequence[str], k: int, where: Filter) -> list[Hit]:
        rows = self._facets.find_rows(where) if where else None
        scores = self.bm25s.score_all(terms)
        return self._choose_best(scores if rows is None else scores[rows], k, rows, 0.0)

    def _choose_best(self, scores: NDArray[np.floating], k: int, rows: Rows | None, above: float) -> list[Hit]:
        """Returns the hits of the `k` best scores, which belong to `rows` (None: to all rows)."""
        best = np.argpartition(-scores, k)[:k] if k < len(scores) else np.arange(len(scores))
        best = best[scores[best] > above]
        return self._build_hits(best if rows is None else rows[best], scores[best])

    def _build_hits(self, rows: Rows, scores: NDArray[np.floating]) -> list[Hit]:
        """Returns hits, best first. Differences below the last bits of a matrix product count as ties: they vary
        with its shape.
        """
        pairs = sorted(zip((-scores).round(_TIE_DECIMALS).tolist(), rows.tolist(), scores.tolist(), strict=True))
        return [Hit(self._ids[row], score) for _, row, score in pairs]


class LocalIndex:
    """Holds the current snapshot; `apply` builds the next one beside it and swaps it in.

    Args:
        vectors: The vector store; None searches the embeddings exactly, in memory.
    """

    def __init__(self, vectors: VectorStore | None = None, options: IndexOptions | None = None) -> None:
        self._vectors = vectors
        self._options = options or IndexOptions()
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="recall")
        self._vocabulary = TermTable()
        self._changing = Lock()
        self._is_filling_store = self._closed = False
        self._snapshot = self._build_snapshot(
            -1, PackedChunks.from_chunks(()), np.zeros((0, 1), np.float32), LexicalIndex([], self._vocabulary)
        )
        self._reconciled = vectors is None

    def get_snapshot(self) -> LocalSnapshot:
        return self._snapshot

    async def apply(self, change: IndexChange) -> None:
        await asyncio.to_thread(self._apply_change, change)

    def _apply_change(self, change: IndexChange) -> None:
        # One vocabulary for all revisions: it only grows, and a view has no postings of terms that came later.
        self._vocabulary.extend(change.first_term, change.new_terms)
        with self._changing:
            old, new = self._snapshot, self._build_next(change)
            if self._vectors is None or self._is_filling_store:
                self._snapshot = new
                return
            stored, missing = self._compare_store(self._vectors, old, new, change)
            if old.is_exact and len(missing) > BEHIND:
                new.set_store(None)
                self._snapshot, self._is_filling_store = new, True
                self._threads.submit(self._fill_behind, self._vectors)
                return
            self._put_vectors(self._vectors, new, missing, _PART)
            self._snapshot = new
            self._vectors.delete(sorted(stored if new.small else stored - new.list_ids()), change.revision)
            self._reconciled = True

    def _compare_store(
        self, store: VectorStore, old: LocalSnapshot, new: LocalSnapshot, change: IndexChange
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Returns what the store holds and may have to drop, and what it lacks of `new`.

        The store has nothing of a base that is searched exactly: nobody would ask it, and 10,000 rows take 30 MB and 13
        s.
        """
        if old.is_exact:  # just opened, when a kill may have left it behind or ahead, or grown beyond the limit
            stored = frozenset() if new.small and self._reconciled else frozenset(store.list_ids())
            return stored, frozenset() if new.small else new.list_ids() - stored
        stored = old.list_ids() if new.small else change.removed
        return stored, frozenset() if new.small else frozenset(item.chunk.id for item in change.added)

    def _put_vectors(self, store: VectorStore, snapshot: LocalSnapshot, missing: frozenset[str], part: int) -> None:
        ids = sorted(missing)
        for start in range(0, len(ids), part):
            if self._closed:
                return
            some = ids[start : start + part]
            store.upsert(some, snapshot.get_vectors(some), snapshot.revision)

    def _fill_behind(self, store: VectorStore) -> None:
        """Fills the store in the background until it has all rows of the newest snapshot, which then asks it."""
        try:
            while not self._closed:
                snapshot = self._snapshot
                stored, wanted = frozenset(store.list_ids()), frozenset() if snapshot.small else snapshot.list_ids()
                self._put_vectors(store, snapshot, wanted - stored, _PART_BEHIND)
                store.delete(sorted(stored - wanted), snapshot.revision)
                with self._changing:
                    if self._snapshot is snapshot and not self._closed:
                        snapshot.set_store(store)
                        self._reconciled, self._is_filling_store = True, False
                        return
        except Exception as error:  # whatever it is, the exact search goes on, and the next change tries again
            logger.warning("the vector store cannot be filled, its rows are searched exactly: {}", error)
            with self._changing:
                self._reconciled = self._is_filling_store = False

    def _build_next(self, change: IndexChange) -> LocalSnapshot:
        old, newest = self._snapshot, {item.chunk.id: item for item in change.added}
        added = sorted(newest.values(), key=lambda item: _row_order(item.chunk))
        replaced = change.removed | {item.chunk.id for item in added}
        kept = [row for row, chunk_id in enumerate(old.chunks.ids) if chunk_id not in replaced]
        places = [
            bisect_right(kept, _row_order(item.chunk), key=lambda row: _row_order(old.chunks[row])) for item in added
        ]
        # Where each new row comes from: old rows by number, and after the last of them those that were added.
        source = np.insert(np.array(kept, np.int64), places, len(old) + np.arange(len(added)))
        half = self._vectors is not None and len(source) > self._options.exact_search_max_chunks
        return self._build_snapshot(
            change.revision,
            old.chunks.build_next([item.chunk for item in added], source),
            select_rows(old.matrix, [item.vector for item in added], source, np.float16 if half else np.float32),
            old.bm25s.build_next([item.terms for item in added], source),
        )

    def _build_snapshot(
        self, revision: int, chunks: PackedChunks, matrix: Matrix, lexical: LexicalIndex
    ) -> LocalSnapshot:
        """Builds a snapshot; while the vector store is filled in the background, it searches exactly, in memory."""
        store = None if self._is_filling_store else self._vectors
        return LocalSnapshot(revision, chunks, matrix, lexical, store, self._threads, self._options)

    async def close(self) -> None:
        self._closed = True
        await asyncio.to_thread(self._threads.shutdown)
        if self._vectors is not None:
            self._vectors.close()
