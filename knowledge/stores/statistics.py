"""What BM25 has to know of a whole base: how many chunks there are, how long, and how often terms occur."""

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
        """Of all terms; those that occur nowhere do not count."""
        return cls(_create_empty(), _create_empty()).move_terms(np.zeros(len(frequencies), np.int64), frequencies)

    def move_terms(self, old: Numbers, new: Numbers) -> TermSpread:
        """With terms that occurred in so many chunks before, and do in so many now; shapes (terms,)."""
        values, place = np.unique(np.concatenate([self.values, old, new]), return_inverse=True)
        change = np.concatenate([self.counts, np.full(len(old), -1), np.ones(len(new), np.int64)])
        counts = np.bincount(place, change, len(values)).round().astype(np.int64)
        held = (counts > 0) & (values > 0)
        return TermSpread(values[held], counts[held])

    def find_least_frequency(self, count: int) -> int:
        """In how many chunks a term has to occur, so that not more than `count` terms do."""
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
        """Those of a revision with so many chunks and tokens more, some of whose terms occur in `new` chunks, where
        they did in `old`; shapes (terms,).
        """
        return TermStatistics(self.chunks + chunks, self.tokens + tokens, self.spread.move_terms(old, new))

    def compute_idf(self, frequencies: Sequence[int]) -> NDArray[np.float64]:
        """idf of terms that occur in so many chunks; of one in none, the highest. Shape (terms,)."""
        held = np.minimum(np.asarray(frequencies, np.int64), self.chunks)
        found = self._compute_okapi_idf(held)
        if self._average > 0:
            worth = np.where(found < 0, OKAPI.epsilon * self._average, found)
        else:  # see `lexical.document_idf`
            worth = np.log1p((self.chunks - held + 0.5) / (held + 0.5))
        return np.where(held > 0, worth, self._unseen)

    def score(self, counts: NDArray[np.int64], idf: NDArray[np.float64], length: int) -> float:
        """BM25 of a text of so many tokens that holds terms of that idf so often; shapes (terms,)."""
        norm = OKAPI.k1 * (1 - OKAPI.b + OKAPI.b * length / self._length)
        return float((idf * counts * (OKAPI.k1 + 1) / (counts + norm)).sum())

    def _compute_okapi_idf(self, frequencies: Numbers) -> NDArray[np.float64]:
        held = np.minimum(frequencies, self.chunks)
        return np.log(self.chunks - held + 0.5) - np.log(held + 0.5)


NOTHING = TermStatistics(0, 0, TermSpread(_create_empty(), _create_empty()))
