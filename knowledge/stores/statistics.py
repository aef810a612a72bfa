"""What BM25 has to know of a whole base: in how many chunks each term occurs, and how long chunks are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from knowledge.stores.lexical import OKAPI, document_idf
from knowledge.types import TermIds


class TermStatistics:
    """Immutable statistics of one revision: four bytes a term of the vocabulary, whatever the number of chunks.

    Scores are those of `LexicalIndex`, of a chunk whose terms are given.
    """

    def __init__(self, frequencies: NDArray[np.int32], chunks: int, terms: int, vocabulary: Mapping[str, int]) -> None:
        """frequencies: chunks that hold the term of that id; terms: tokens of all chunks together."""
        self._frequencies, self._chunks, self._terms, self._vocabulary = frequencies, chunks, terms, vocabulary
        self._idf = document_idf(frequencies, chunks)
        self._unseen = float(np.log(chunks + 0.5) - np.log(0.5)) if chunks else 0.0

    def changed(self, added: Sequence[TermIds], removed: Sequence[TermIds]) -> TermStatistics:
        """Those of a revision that has these chunks more and those less."""
        top = max((int(terms.max(initial=-1)) + 1 for terms in added), default=0)
        frequencies = np.zeros(max(top, len(self._frequencies)), np.int32)
        frequencies[: len(self._frequencies)] = self._frequencies
        for sign, documents in ((1, added), (-1, removed)):
            for terms in documents:
                frequencies[np.unique(terms)] += sign
        length = self._terms + sum(map(len, added)) - sum(map(len, removed))
        return TermStatistics(frequencies, self._chunks + len(added) - len(removed), length, self._vocabulary)

    def idf(self, terms: Iterable[str]) -> list[float]:
        """See `Snapshot.idf`."""
        ids = (self._vocabulary.get(term) for term in terms)
        return [
            self._unseen if number is None or not self._occurs(number) else float(self._idf[number]) for number in ids
        ]

    def known(self, terms: Iterable[str]) -> list[int]:
        """Ids of those that occur, in their order, with repetitions."""
        ids = (self._vocabulary.get(term) for term in terms)
        return [number for number in ids if number is not None and self._occurs(number)]

    def score(self, terms: Sequence[str], document: TermIds) -> float:
        """BM25 of a chunk of this base."""
        wanted = self.known(terms)
        if not wanted or not len(document):
            return 0.0
        counts = (document[:, np.newaxis] == np.array(wanted)).sum(axis=0)
        return self._okapi(counts, self._idf[wanted], len(document))

    def score_of(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        """BM25 that a text of these tokens would have, if its words were as frequent as they are here."""
        if not terms or not tokens:
            return 0.0
        return self._okapi(np.array([tokens.count(term) for term in terms]), np.array(self.idf(terms)), len(tokens))

    def frequencies(self) -> dict[str, int]:
        """See `Snapshot.frequencies`."""
        counts = self._frequencies.tolist()
        return {term: count for term, count in zip(self._vocabulary, counts, strict=False) if count}

    def _okapi(self, counts: NDArray[np.int64], idf: NDArray[np.float64], length: int) -> float:
        average = self._terms / self._chunks if self._terms else 1.0
        norm = OKAPI.k1 * (1 - OKAPI.b + OKAPI.b * length / average)
        return float((idf * counts * (OKAPI.k1 + 1) / (counts + norm)).sum())

    def _occurs(self, number: int) -> bool:
        return number < len(self._frequencies) and bool(self._frequencies[number] > 0)
