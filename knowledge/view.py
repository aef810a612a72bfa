"""A snapshot seen with chunks that are in nobody's index, and without some that are.

Their words are weighed by the base's statistics, so that their scores are on the scale that the gate is calibrated on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import nlargest

import numpy as np
from numpy.typing import NDArray

from knowledge.buckets import Buckets, find_bucket
from knowledge.filters import EVERYTHING, Filter
from knowledge.index import Snapshot
from knowledge.types import Chunk, Hit, Matrix, Vector

# Added chunks that are scored on the event loop, at some 30 µs each; more have a thread.
AT_ONCE = 50
Values = NDArray[np.float32] | list[float]


class View:
    """A `Snapshot` over another one, with chunks added and hidden; revision and statistics are those of the base."""

    def __init__(
        self,
        base: Snapshot,
        chunks: Sequence[Chunk],
        tokens: Sequence[Sequence[str]],
        vectors: Matrix,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        """tokens, vectors: of the chunks that are added, in their order; hidden: ids of the base that are not seen."""
        self._base = base
        self._chunks = tuple(chunks)
        self._tokens = tuple(tokens)
        self._vectors = vectors
        self._hidden = hidden
        self._row = {chunk.id: row for row, chunk in enumerate(self._chunks)}
        self._holding: dict[str, list[int]] = {}
        for row, words in enumerate(self._tokens):
            for term in dict.fromkeys(words):
                self._holding.setdefault(term, []).append(row)

    @property
    def revision(self) -> int:
        return self._base.revision

    @property
    def centre(self) -> Vector:
        return self._base.centre

    def __len__(self) -> int:
        return len(self._base) - len(self._hidden) + len(self._chunks)

    @property
    def buckets(self) -> Buckets:
        return self._base.buckets.toggle((*self._hidden, *self._row))

    def list_ids(self, within: Collection[int] | None = None) -> frozenset[str]:
        own = (name for name in self._row if within is None or find_bucket(name) in within)
        return (self._base.list_ids(within) - self._hidden).union(own)

    def walk(self, within: Collection[int] | None = None) -> Iterator[Chunk]:
        yield from (chunk for chunk in self._base.walk(within) if chunk.id not in self._hidden)
        yield from (chunk for chunk in self._chunks if within is None or find_bucket(chunk.id) in within)

    def sample(self, count: int) -> list[Chunk]:
        seen = [chunk for chunk in self._base.sample(count) if chunk.id not in self._hidden]
        found = sorted([*seen, *self._chunks], key=lambda chunk: chunk.id)
        return found[:: -(-len(found) // count) or 1]

    def find_existing(self, chunk_ids: Collection[str]) -> frozenset[str]:
        own = frozenset(name for name in chunk_ids if name in self._row)
        return own | (self._base.find_existing(chunk_ids) - self._hidden)

    def list_ids_of_documents(self, document_ids: Collection[str]) -> frozenset[str]:
        own = (chunk.id for chunk in self._chunks if chunk.document.id in document_ids)
        return (self._base.list_ids_of_documents(document_ids) - self._hidden).union(own)

    def get_chunk(self, chunk_id: str) -> Chunk:
        if chunk_id in self._hidden:
            raise KeyError(chunk_id)
        row = self._row.get(chunk_id)
        return self._base.get_chunk(chunk_id) if row is None else self._chunks[row]

    async def search_dense(self, vector: Vector, k: int, where: Filter = EVERYTHING) -> list[Hit]:
        hits = await self._base.search_dense(vector, k + len(self._hidden), where)
        return self._merge_hits(hits, dict(enumerate((self._vectors @ vector).tolist())), k, where)

    async def search_lexical(self, terms: Sequence[str], k: int, where: Filter = EVERYTHING) -> list[Hit]:
        hits = await self._base.search_lexical(terms, k + len(self._hidden), where)
        sharing = sorted({row for term in terms for row in self._holding.get(term, ())})
        if len(sharing) > AT_ONCE:
            scores = await asyncio.to_thread(self._score_rows, terms, sharing)
        else:
            scores = self._score_rows(terms, sharing)
        return self._merge_hits(hits, {row: score for row, score in scores.items() if score > 0}, k, where)

    def get_vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        return self._collect_values(
            chunk_ids, self._base.get_vectors, self._vectors.__getitem__, self._vectors.shape[1:]
        )

    def compute_cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self._collect_values(
            chunk_ids, lambda ids: self._base.compute_cosines(vector, ids), lambda rows: self._vectors[rows] @ vector
        )

    def compute_centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self._collect_values(
            chunk_ids, self._base.compute_centrality, lambda rows: self._vectors[rows] @ self.centre
        )

    def score_bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        def score_own(rows: list[int]) -> list[float]:
            return [self._score_added(terms, row) for row in rows]

        scores: list[float] = self._collect_values(
            chunk_ids, lambda ids: self._base.score_bm25(terms, ids), score_own
        ).tolist()
        return scores

    def score_tokens(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        return self._base.score_tokens(terms, tokens)

    def get_idf(self, terms: Sequence[str]) -> list[float]:
        return self._base.get_idf(terms)

    def get_frequencies(self) -> dict[str, int]:
        return self._base.get_frequencies()

    def list_frequent_terms(self, count: int) -> dict[str, int]:
        return self._base.list_frequent_terms(count)

    def _score_rows(self, terms: Sequence[str], rows: Sequence[int]) -> dict[int, float]:
        return {row: self._score_added(terms, row) for row in rows}

    def _score_added(self, terms: Sequence[str], row: int) -> float:
        """Returns the BM25 score of an added chunk."""
        return self.score_tokens(terms, self._tokens[row])

    def _merge_hits(self, hits: list[Hit], own: dict[int, float], k: int, where: Filter) -> list[Hit]:
        """Merges the base's hits that are not hidden with the added chunks; returns the `k` best."""
        seen = [hit for hit in hits if hit.chunk_id not in self._hidden]
        for row, score in own.items():
            chunk = self._chunks[row]
            if chunk.is_in_view or where.matches(chunk.document):
                seen.append(Hit(chunk.id, score))
        return nlargest(k, seen, key=lambda hit: hit.score)

    def _collect_values(
        self,
        chunk_ids: Sequence[str],
        of_base: Callable[[list[str]], Values],
        of_added: Callable[[list[int]], Values],
        width: tuple[int, ...] = (),
    ) -> NDArray[np.float32]:
        """Returns one value for each chunk, in their order, from the base or from the added chunks."""
        rows = [self._row.get(chunk_id) for chunk_id in chunk_ids]
        added = np.array([row is not None for row in rows], bool)
        mixed = np.empty((len(rows), *width), np.float32)
        if added.any():
            mixed[added] = of_added([row for row in rows if row is not None])
        if not added.all():
            mixed[~added] = of_base([each for each, row in zip(chunk_ids, rows, strict=True) if row is None])
        return mixed
