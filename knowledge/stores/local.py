"""The embedded index: a vector store composed with our BM25, one immutable snapshot per revision."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import merge
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from knowledge.stores.base import VectorStore
from knowledge.stores.lexical import LexicalIndex
from knowledge.types import Chunk, Filter, Hit, IndexChange, IndexedChunk, Matrix, TermIds, Vector

_EVERYTHING = Filter()
_ROW_ORDER = attrgetter("chunk.document.name", "chunk.ordinal", "chunk.id")
"""Ties go by row: the same documents rank alike whatever their ids, which are random, and whenever they came."""
_TIE_DECIMALS = 6
EXACT_ROWS = 20_000
"""Up to here dense recall is one exact matrix product (under 2 ms), which never misses a neighbour; an approximate
search over a few hundred near-duplicates does, and was measured to.
"""


class LocalSnapshot:
    """Chunks, embeddings and BM25 of one revision, in memory.

    Unfiltered dense recall of a large base asks the vector store. Filtered recall is exact over the rows
    that match: a vector store's own filters cost 42 ms at 100,000 chunks.
    """

    def __init__(
        self,
        revision: int,
        chunks: tuple[IndexedChunk, ...],
        vocabulary: dict[str, int],
        vectors: VectorStore | None,
        threads: ThreadPoolExecutor,
    ) -> None:
        self.revision = revision
        self.indexed = chunks
        self.vocabulary = vocabulary
        self._row = {item.chunk.id: row for row, item in enumerate(chunks)}
        documents = {id(item.chunk.document): item.chunk.document for item in chunks}
        places = {key: place for place, key in enumerate(documents)}
        self._documents = tuple(documents.values())
        self._document_of = np.array([places[id(item.chunk.document)] for item in chunks], dtype=np.int32)
        self._matrix: Matrix = np.stack([item.vector for item in chunks]) if chunks else np.zeros((0, 1), np.float32)
        self.centre: Vector = self._matrix.mean(axis=0) if chunks else np.zeros(1, np.float32)
        terms: list[TermIds] = [item.terms for item in chunks]
        self._lexical = LexicalIndex(terms, vocabulary)
        self._vectors = vectors
        self._threads = threads

    def __len__(self) -> int:
        return len(self.indexed)

    def ids(self) -> frozenset[str]:
        return frozenset(self._row)

    def chunk(self, chunk_id: str) -> Chunk:
        return self.indexed[self._row[chunk_id]].chunk

    async def dense(self, vector: Vector, k: int, where: Filter = _EVERYTHING) -> list[Hit]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._dense, vector, k, where)

    async def lexical(self, terms: Sequence[str], k: int, where: Filter = _EVERYTHING) -> list[Hit]:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._bm25, terms, k, where)

    def vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        vectors: Matrix = self._matrix[[self._row[chunk_id] for chunk_id in chunk_ids]]
        return vectors

    def bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        rows = [self._row[chunk_id] for chunk_id in chunk_ids]
        return [float(score) for score in self._lexical.scores_at(terms, rows)]

    def idf(self, terms: Sequence[str]) -> list[float]:
        return self._lexical.idf(terms)

    def _dense(self, vector: Vector, k: int, where: Filter) -> list[Hit]:
        if not self.indexed:
            return []
        if self._vectors is not None and not where and len(self.indexed) > EXACT_ROWS:
            # The store is one revision ahead during a change: it may hold rows that this view does not know, and no
            # longer hold others, whose places would stay empty.
            found = self._vectors.search(vector, k)
            rows = np.array([self._row[hit.chunk_id] for hit in found if hit.chunk_id in self._row], dtype=np.int64)
            if len(rows) >= min(k, len(self.indexed)):
                return self._hits(rows, self._matrix[rows] @ vector)
        return self._best(self._matrix @ vector, k, where, -np.inf)

    def _bm25(self, terms: Sequence[str], k: int, where: Filter) -> list[Hit]:
        return self._best(self._lexical.scores(terms), k, where, 0.0)

    def _best(self, scores: NDArray[np.float32], k: int, where: Filter, above: float) -> list[Hit]:
        if where:
            allowed = np.array([where.matches(document) for document in self._documents], dtype=bool)
            scores = np.where(allowed[self._document_of], scores, -np.inf)
        rows = np.argpartition(-scores, k)[:k] if k < len(scores) else np.arange(len(scores))
        rows = rows[np.isfinite(scores[rows]) & (scores[rows] > above)]
        return self._hits(rows, scores[rows])

    def _hits(self, rows: NDArray[np.int64], scores: NDArray[np.float32]) -> list[Hit]:
        """Best first. What differs less than a matrix product's last bits is a tie: these vary with its shape."""
        order = np.lexsort((rows, -scores.round(_TIE_DECIMALS)))
        return [Hit(self.indexed[rows[place]].chunk.id, float(scores[place])) for place in order]


class LocalIndex:
    """Holds the current snapshot; `apply` builds the next one beside it and swaps it in.

    vectors: None searches the embeddings exactly, in memory.
    """

    def __init__(self, vectors: VectorStore | None = None) -> None:
        self._vectors = vectors
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="recall")
        self._snapshot = LocalSnapshot(-1, (), {}, vectors, self._threads)
        self._reconciled = vectors is None

    def snapshot(self) -> LocalSnapshot:
        return self._snapshot

    async def apply(self, change: IndexChange) -> None:
        await asyncio.to_thread(self._apply, change)

    def _apply(self, change: IndexChange) -> None:
        old = self._snapshot
        added = {item.chunk.id: item for item in change.added}
        kept = [item for item in old.indexed if item.chunk.id not in change.removed and item.chunk.id not in added]
        vocabulary = dict(old.vocabulary)
        vocabulary.update({term: change.first_term + offset for offset, term in enumerate(change.new_terms)})
        if self._vectors is not None:
            stored = self._stored()
            self._vectors.upsert([item for key, item in added.items() if key not in stored])
        rows = tuple(merge(kept, sorted(added.values(), key=_ROW_ORDER), key=_ROW_ORDER))
        self._snapshot = LocalSnapshot(change.revision, rows, vocabulary, self._vectors, self._threads)
        if self._vectors is not None:
            self._vectors.delete(sorted((change.removed | self._stored()) - self._snapshot.ids()))
            self._reconciled = True

    def _stored(self) -> set[str]:
        """What the store holds already: asked once after opening, when a kill may have left it behind or ahead."""
        return set() if self._reconciled or self._vectors is None else self._vectors.ids()

    async def close(self) -> None:
        self._threads.shutdown()
        if self._vectors is not None:
            self._vectors.close()
