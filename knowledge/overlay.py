"""The page that a customer looks at as one more passage of the base: recalled, scored and gated like any other.

It is in nobody's index: a turn's snapshot is seen through an `Overlay`, which knows one chunk more than the base does.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

import numpy as np
from cachetools import LRUCache

from knowledge.embeddings.base import Embedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.index import Snapshot
from knowledge.text import Analyzer, fold
from knowledge.types import PAGE_ID, Chunk, DocumentMeta, PageText, Vector
from knowledge.view import View
from knowledge.vocabulary import AnalyzerHistory

# e5 embeds so much in a tenth of a second, which a customer can wait for.
MAX_PASSAGE_CHARS = 200
# Of what the nearest line shares, from which another one stands beside it: on 39 questions the same from .3 to .5.
# With whatever fits, half as many of the lines that answer passed the gate, for they said so much else.
NEAR_SHARE = 0.33
MAX_TITLE_CHARS = 100
MAX_VECTORS = 256
# Longer than any embedder takes that is well: a page must not hold up what the base alone can answer.
PATIENCE_SECONDS = 3.0


def build_passage(page: PageText, texts: Iterable[str]) -> Chunk:
    """Builds the passage of a page for a question: its nearest lines in their order, MAX_PASSAGE_CHARS at most.

    A line is as near as the characters, and pairs of them, that it shares with the question are rare on the page; the
    name of a product stands in most lines and tells nothing.

    Args:
        page: The page.
        texts: All wordings of the question.
    """
    grams = set[str]().union(*map(_collect_grams, texts))
    wanted = sorted(grams - _collect_grams(page.title) or grams)
    shared = [[mark for mark in wanted if mark in line] for line in map(fold, page.lines)]
    count = Counter(mark for marks in shared for mark in marks)
    scores = [sum(log(1 + len(shared) / count[mark]) for mark in marks) for marks in shared]
    ranked = sorted(range(len(shared)), key=lambda number: -scores[number])
    first, *others = [number for number in ranked if scores[number] >= NEAR_SHARE * scores[ranked[0]]]
    kept, size = [first], len(page.lines[first])
    for number in others:
        if size + 1 + len(page.lines[number]) <= MAX_PASSAGE_CHARS:
            kept.append(number)
            size += 1 + len(page.lines[number])
    text = "\n".join(page.lines[number] for number in sorted(kept))[:MAX_PASSAGE_CHARS]
    return Chunk(PAGE_ID, DocumentMeta("", "", page.title[:MAX_TITLE_CHARS]), 0, text, entry=PAGE_ID)


class Overlay(View):
    """A `Snapshot` with one chunk more. A filter does not match the page."""

    def __init__(self, base: Snapshot, chunk: Chunk, vector: Vector | None, analyzer: Analyzer) -> None:
        """vector: None for a search by keywords alone; analyzer: the one that made the base's terms."""
        own = base.centre if vector is None else vector
        super().__init__(base, [chunk], [analyzer.tokenize(chunk.indexed_text)], own[np.newaxis])
        self._subject = frozenset(analyzer.tokenize(chunk.document.title))

    def _score_added(self, terms: Sequence[str], row: int) -> float:
        """Returns the BM25 of the page for a question without the words of its title, on the scale of the whole
        question.

        What a page is about need not be said of it, and saying it proves nothing: in a base that hardly knows 体验官,
        体验官有工资吗 was answered from any page with that title. With this rule, here and in `build_passage`, 1 of 22
        questions that a page leaves open passes the gate, and 5 without; of 44 that it answers 40 and 41. A question of
        nothing but the title matches in full.
        """
        rest = [term for term in terms if term not in self._subject] or terms
        whole, uncovered = sum(self.get_idf(terms)), sum(self.get_idf(rest))
        return super()._score_added(rest, row) * whole / max(uncovered, 1e-9)


class PageReader:
    """Adds pages to snapshots, and remembers the embeddings of the last MAX_VECTORS passages by their text."""

    def __init__(self, embedder: Embedder, analyzers: AnalyzerHistory) -> None:
        self._embedder = embedder
        self._analyzers = analyzers
        self._vectors: LRUCache[str, Vector] = LRUCache(MAX_VECTORS)

    async def lay_page_over(self, snapshot: Snapshot, page: PageText, texts: Iterable[str], *, embed: bool) -> Snapshot:
        """Returns a view of the snapshot that has the page's passage for these wordings of a question.

        The title is matched by its words and not embedded: all lines of the page share it, and a shop's own name in it
        brings each of them near the centre of the base. Of the questions that a page answers .85 passed the gate so,
        and .74 with it.

        Args:
            snapshot: The base.
            page: The page.
            texts: All wordings of the question.
            embed: False for a search by keywords alone.

        Raises:
            EmbeddingUnavailable: If the embedder fails or takes too long.
        """
        chunk = build_passage(page, texts)
        vector = await self._embed_passage(chunk.text) if embed else None
        return Overlay(snapshot, chunk, vector, self._analyzers.get_analyzer(snapshot.revision))

    async def _embed_passage(self, text: str) -> Vector:
        key = self._embedder.build_key(text, "passage")
        if (known := self._vectors.get(key)) is not None:
            return known
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                matrix = await self._embedder.embed_passages([text])
        except TimeoutError as error:
            raise EmbeddingUnavailable("the embedder takes too long for a page") from error
        vector: Vector = matrix[0]
        self._vectors[key] = vector
        return vector


def _collect_grams(text: str) -> set[str]:
    """Returns the characters of a text without signs, and all pairs of neighbours."""
    folded = fold(text)
    return {folded[at : at + 2] for at in range(len(folded) - 1)}.union(filter(str.isalnum, folded))
