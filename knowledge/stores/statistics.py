"""The statistics of a whole base that BM25 needs: number and length of chunks, and frequencies of terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knowledge.stores.lexical import OKAPI

Numbers = NDArray[np.int64]


def _create_empty() -> Numbers:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class TermSpread:
    """How many terms occur in how many chunks: `counts[i]` of them in `values[i]`, which rise from 1.

    That is all that Okapi's floor, a share of the average idf, needs of the vocabulary. Where P is the number of pairs
    of a chunk and a term in it, there are sqrt(2 P) values at most: 2,000 at 20,000 chunks.
    """

    values: Numbers
    counts: Numbers

    @classmethod
    def from_frequencies(cls, frequencies: Numbers) -> TermSpread:
        """Counts the frequencies of all terms; terms that occur nowhere are left out."""
        return cls(_create_empty(), _create_empty()).move_terms(np.zeros(len(frequencies), np.int64), frequencies)

    def move_terms(self, old: Numbers, new: Numbers) -> TermSpread:
        """Returns a copy in which terms moved from their `old` to their `new` frequencies; shapes (terms,)."""
        values, index = np.unique(np.concatenate([self.values, old, new]), return_inverse=True)
        change = np.concatenate([self.counts, np.full(len(old), -1), np.ones(len(new), np.int64)])
        counts = np.bincount(index, change, len(values)).round().astype(np.int64)
        counted = (counts > 0) & (values > 0)
        return TermSpread(values[counted], counts[counted])

    def find_least_frequency(self, count: int) -> int:
        """Returns the lowest frequency that at most `count` terms reach."""
        above = self.counts[::-1].cumsum()
        taken = int(np.searchsorted(above, count, side="right"))
        return int(self.values[::-1][taken]) + 1 if taken < len(above) else 1


class TermStatistics:
    """Immutable statistics of one revision, whatever the number of chunks.

    Scores are those of `LexicalIndex`, of a chunk whose terms are given.
    """

    def __init__(self, chunks: int, tokens: int, spread: TermSpread) -> None:
        """tokens: of all chunks together."""
        self.chunks, self.tokens, self.spread = chunks, tokens, spread
        self._length = tokens / chunks if tokens > 0 and chunks > 0 else 1.0
        self._unseen = float(np.log(chunks + 0.5) - np.log(0.5)) if chunks else 0.0
        terms = int(spread.counts.sum())
        self._average = float(self._compute_okapi_idf(spread.values) @ spread.counts) / terms if terms else 0.0

    def build_next(self, chunks: int, tokens: int, old: Numbers, new: Numbers) -> TermStatistics:
        """Returns the statistics of a later revision.

        Args:
            chunks: How many chunks it has more.
            tokens: How many tokens it has more.
            old: Former frequencies of the terms that changed, shape (terms,).
            new: Their new frequencies.
        """
        return TermStatistics(self.chunks + chunks, self.tokens + tokens, self.spread.move_terms(old, new))

    def compute_idf(self, frequencies: Sequence[int]) -> NDArray[np.float64]:
        """Returns the idf for document frequencies, shape (terms,); 0 chunks get the highest value."""
        capped = np.minimum(np.asarray(frequencies, np.int64), self.chunks)
        found = self._compute_okapi_idf(capped)
        if self._average > 0:
            worth = np.where(found < 0, OKAPI.epsilon * self._average, found)
        else:  # see `lexical.compute_idf`
            worth = np.log1p((self.chunks - capped + 0.5) / (capped + 0.5))
        return np.where(capped > 0, worth, self._unseen)

    def score(self, counts: NDArray[np.int64], idf: NDArray[np.float64], length: int) -> float:
        """Returns the BM25 of a text.

        Args:
            counts: How often it contains each term, shape (terms,).
            idf: The idf of each term.
            length: Its length in tokens.
        """
        norm = OKAPI.k1 * (1 - OKAPI.b + OKAPI.b * length / self._length)
        return float((idf * counts * (OKAPI.k1 + 1) / (counts + norm)).sum())

    def _compute_okapi_idf(self, frequencies: Numbers) -> NDArray[np.float64]:
        capped = np.minimum(frequencies, self.chunks)
        return np.log(self.chunks - capped + 0.5) - np.log(capped + 0.5)


NOTHING = TermStatistics(0, 0, TermSpread(_create_empty(), _create_empty()))
