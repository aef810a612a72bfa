"""The page that a customer looks at as one more passage of the base: recalled, scored and gated like any other.

It is in nobody's index. A turn's snapshot is seen through an `Overlay`, which knows one chunk more than the base does
and weighs its words by the base's statistics, so that its scores are on the scale that the gate is calibrated on.
"""

from __future__ import annotations

import asyncio
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.index import Snapshot
from knowledge.text import Analyzer, fold
from knowledge.types import PAGE_ID, Chunk, DocumentMeta, Filter, Hit, Matrix, PageText, Vector

_EVERYTHING = Filter()
MAX_PASSAGE_CHARS = 200
"""e5 embeds so much in a tenth of a second, which a customer can wait for."""
NEAR_SHARE = 0.33
"""Of what the nearest line shares, from which another one stands beside it: on 39 questions the same from .3 to .5.
With whatever fits, half as many of the lines that answer passed the gate, for they said so much else.
"""
MAX_TITLE_CHARS = 100
MAX_VECTORS = 256
PATIENCE_SECONDS = 3.0
"""Longer than any embedder takes that is well: a page must not hold up what the base alone can answer."""


def passage(page: PageText, texts: Iterable[str]) -> Chunk:
    """The lines nearest to any wording of a question, in their order, MAX_PASSAGE_CHARS at most.

    A line is as near as the characters, and pairs of them, that it shares with the question are rare on the page; the
    name of a product stands in most lines and tells nothing.
    """
    asked = set[str]().union(*map(_marks, texts))
    wanted = sorted(asked - _marks(page.title) or asked)
    shared = [[mark for mark in wanted if mark in line] for line in map(fold, page.lines)]
    count = Counter(mark for marks in shared for mark in marks)
    near = [sum(log(1 + len(shared) / count[mark]) for mark in marks) for marks in shared]
    ranked = sorted(range(len(shared)), key=lambda number: -near[number])
    first, *others = [number for number in ranked if near[number] >= NEAR_SHARE * near[ranked[0]]]
    kept, size = [first], len(page.lines[first])
    for number in others:
        if size + 1 + len(page.lines[number]) <= MAX_PASSAGE_CHARS:
            kept.append(number)
            size += 1 + len(page.lines[number])
    text = "\n".join(page.lines[number] for number in sorted(kept))[:MAX_PASSAGE_CHARS]
    return Chunk(PAGE_ID, DocumentMeta("", "", page.title[:MAX_TITLE_CHARS]), 0, text, entry=PAGE_ID)


class Overlay:
    """A `Snapshot` with one chunk more; its revision is the base's. A filter does not match the page."""

    def __init__(self, base: Snapshot, chunk: Chunk, vector: Vector | None, analyzer: Analyzer) -> None:
        """vector: None for a search by keywords alone; analyzer: the one that made the base's terms."""
        self._base = base
        self._chunk = chunk
        self._vector = base.centre if vector is None else vector
        self._tokens = analyzer.tokens(chunk.indexed_text)
        self._subject = frozenset(analyzer.tokens(chunk.document.title))

    @property
    def revision(self) -> int:
        return self._base.revision

    @property
    def centre(self) -> Vector:
        return self._base.centre

    def __len__(self) -> int:
        return len(self._base) + 1

    def ids(self) -> frozenset[str]:
        return self._base.ids() | {PAGE_ID}

    def chunk(self, chunk_id: str) -> Chunk:
        return self._chunk if chunk_id == PAGE_ID else self._base.chunk(chunk_id)

    async def dense(self, vector: Vector, k: int, where: Filter = _EVERYTHING) -> list[Hit]:
        hits = await self._base.dense(vector, k, where)
        return self._ranked(hits, float(self._vector @ vector), k, where)

    async def lexical(self, terms: Sequence[str], k: int, where: Filter = _EVERYTHING) -> list[Hit]:
        hits, own = await self._base.lexical(terms, k, where), self._matched(terms)
        return self._ranked(hits, own, k, where) if own > 0 else hits

    def vectors(self, chunk_ids: Sequence[str]) -> Matrix:
        return self._filled(chunk_ids, self._base.vectors, self._vector)

    def cosines(self, vector: Vector, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self._filled(chunk_ids, lambda ids: self._base.cosines(vector, ids), self._vector @ vector)

    def centrality(self, chunk_ids: Sequence[str]) -> NDArray[np.float32]:
        return self._filled(chunk_ids, self._base.centrality, self._vector @ self.centre)

    def bm25(self, terms: Sequence[str], chunk_ids: Sequence[str]) -> list[float]:
        own = self._matched(terms) if PAGE_ID in chunk_ids else 0.0
        scores: list[float] = self._filled(chunk_ids, lambda ids: self._base.bm25(terms, ids), own).tolist()
        return scores

    def bm25_of(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        return self._base.bm25_of(terms, tokens)

    def idf(self, terms: Sequence[str]) -> list[float]:
        return self._base.idf(terms)

    def frequencies(self) -> dict[str, int]:
        return self._base.frequencies()

    def _matched(self, terms: Sequence[str]) -> float:
        """BM25 of the page for a question without the words of its title, on the scale of the whole question.

        What a page is about need not be said of it, and saying it proves nothing: in a base that hardly knows 体验官,
        体验官有工资吗 was answered from any page with that title. With that, here and in `passage`, 1 passes the gate
        of 22 questions that a page leaves open, and 5 without; of 44 that it answers 40 and 41. A question of nothing
        but the title matches in full.
        """
        rest = [term for term in terms if term not in self._subject] or terms
        whole, left = sum(self.idf(terms)), sum(self.idf(rest))
        return self.bm25_of(rest, self._tokens) * whole / max(left, 1e-9)

    def _ranked(self, hits: list[Hit], score: float, k: int, where: Filter) -> list[Hit]:
        """Hits of the base with the page in its place."""
        if where and not where.matches(self._chunk.document):
            return hits
        place = bisect(hits, -score, key=lambda hit: -hit.score)
        return [*hits[:place], Hit(PAGE_ID, score), *hits[place:]][:k]

    def _filled(
        self,
        chunk_ids: Sequence[str],
        of_base: Callable[[list[str]], NDArray[np.float32] | list[float]],
        own: NDArray[np.float32] | np.float32 | float,
    ) -> NDArray[np.float32]:
        """One value a chunk, in that order: the base's, and `own` of the page."""
        others = [chunk_id for chunk_id in chunk_ids if chunk_id != PAGE_ID]
        filled = np.empty((len(chunk_ids), *np.shape(own)), np.float32)
        filled[:] = own
        if others:
            filled[[chunk_id != PAGE_ID for chunk_id in chunk_ids]] = of_base(others)
        return filled


class PageReader:
    """Lays pages over snapshots, and remembers the embeddings of the last MAX_VECTORS passages by their text."""

    def __init__(self, embedder: Embedder, analyzer: Analyzer) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._vectors: LRUCache[str, Vector] = LRUCache(MAX_VECTORS)

    async def over(self, snapshot: Snapshot, page: PageText, texts: Iterable[str], *, embed: bool) -> Snapshot:
        """A view that has the page's passage for these wordings of a question; embed: False for keywords alone.

        The title is matched by its words and not embedded: all lines of the page share it, and a shop's own name in it
        brings each of them near the centre of the base. Of the questions that a page answers .85 passed the gate so,
        and .74 with it. Raises EmbeddingUnavailable, also when the embedder takes too long.
        """
        chunk = passage(page, texts)
        vector = await self._vector(chunk.text) if embed else None
        return Overlay(snapshot, chunk, vector, self._analyzer)

    async def _vector(self, text: str) -> Vector:
        key = self._embedder.key(text, "passage")
        if (known := self._vectors.get(key)) is not None:
            return known
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                matrix = await self._embedder.passages([text])
        except TimeoutError as error:
            raise EmbeddingUnavailable("the embedder takes too long for a page") from error
        vector: Vector = matrix[0]
        self._vectors[key] = vector
        return vector


def _marks(text: str) -> set[str]:
    """Characters but signs, and all pairs of neighbours."""
    folded = fold(text)
    return {folded[at : at + 2] for at in range(len(folded) - 1)}.union(filter(str.isalnum, folded))
