"""BM25 over stored term ids: rank-bm25's BM25Okapi, whose scores of a whole base come from a sparse matrix of counts.

A query touches only the postings of its own terms: its `get_scores` needs 108 ms at 100,000 chunks, and its
constructor, which counts token by token in Python, holds the interpreter for 1.9 s. What a posting adds to a score is
computed when it is asked for: kept, it would take as much memory as all the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi
from scipy.sparse import csc_array, csr_array

from knowledge.stores.recent import Recent
from knowledge.types import TermIds

OKAPI = BM25Okapi([[""]])
"""Its k1, b and epsilon are ours; its one word does not matter."""
Scores = NDArray[np.float32]


class LexicalIndex:
    """Immutable BM25 (Okapi, rank-bm25's defaults) of one revision.

    vocabulary: term -> id, iterating in the order of ids, which are 0, 1, 2... It may know more terms than occur here,
    and may grow while this index is in use.
    `scores` equals `BM25Okapi.get_scores` to float32 precision.
    """

    def __init__(self, documents: Sequence[TermIds], vocabulary: Mapping[str, int]) -> None:
        """documents: term ids of each chunk, in row order."""
        lengths = np.array([len(terms) for terms in documents], np.int32)
        self._build(_counted(documents, np.arange(len(documents)), len(documents)), lengths, vocabulary)

    def changed(self, documents: Sequence[TermIds], source: NDArray[np.int64]) -> LexicalIndex:
        """The index of a later revision, whose row r is the row `source[r]` of: this index's rows, then `documents`.

        `source` keeps the order of this index's rows.
        """
        rows, is_old = len(self._lengths), source < len(self._lengths)
        added = _counted(
            [documents[row - rows] for row in source[~is_old].tolist()], np.flatnonzero(~is_old), len(source)
        )
        kept = self._kept(source[is_old], np.flatnonzero(is_old), len(source))
        columns = max(kept.shape[1], added.shape[1])
        kept.resize((len(source), columns))
        added.resize((len(source), columns))
        lengths = np.concatenate([self._lengths, np.array([len(terms) for terms in documents], np.int32)])[source]
        later = LexicalIndex.__new__(LexicalIndex)
        later._build(kept + added, lengths, self._vocabulary)
        return later

    def _kept(self, old: NDArray[np.int64], new: NDArray[np.int64], rows: int) -> Any:
        """Counts of the rows `old`, moved to the rows `new` of a matrix of that many."""
        moved = np.full(len(self._lengths), -1, dtype=np.int32)
        moved[old] = new
        indices, counts, indptr = moved[self._indices], self._counts, self._indptr
        if len(old) < len(self._lengths):
            stays = indices >= 0
            indptr = np.concatenate([[0], np.cumsum(stays)])[indptr].astype(indptr.dtype)
            indices, counts = indices[stays], counts[stays]
        return csc_array((counts, indices, indptr), shape=(rows, len(indptr) - 1))

    def _build(self, counts: Any, lengths: NDArray[np.int32], vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._lengths = lengths
        self._indptr, self._counts = counts.indptr, _narrow(counts.data)
        self._indices = _narrow(counts.indices, len(lengths))
        self._average = float(lengths.mean()) if len(lengths) else 0.0
        occurring = np.diff(self._indptr)
        self._unseen_idf = float(np.log(len(lengths) + 0.5) - np.log(0.5)) if len(lengths) else 0.0
        self._idf = np.where(occurring > 0, document_idf(occurring, len(lengths)), self._unseen_idf)
        # What a term's frequency is set against in a chunk of that length.
        self._norm = (OKAPI.k1 * (1 - OKAPI.b + OKAPI.b * lengths / (self._average or 1.0))).astype(np.float32)
        self._recent: Recent[tuple[str, ...], Scores] = Recent()

    def scores(self, terms: Sequence[str]) -> Scores:
        """BM25 of every row, shape (rows,); a term that the query repeats counts each time. Not to be written to."""
        return self._recent.get(tuple(terms), self._scores)

    def scores_at(self, terms: Sequence[str], rows: Sequence[int]) -> Scores:
        """BM25 of some rows, shape (len(rows),), without touching the postings of the others."""
        if (known := self._recent.find(tuple(terms))) is not None:
            return known[list(rows)]
        wanted = np.asarray(rows, dtype=self._indices.dtype)
        scores = np.zeros(len(wanted), dtype=np.float32)
        for times, found, counts in self._postings(terms):
            places = np.minimum(np.searchsorted(found, wanted), len(found) - 1)
            scores += np.where(found[places] == wanted, _saturated(times, counts[places], self._norm[wanted]), 0)
        return scores

    def score_of(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        """BM25 that a text of these tokens would have, if its words were as frequent as they are here."""
        if not tokens:
            return 0.0
        text = BM25Okapi([tokens])
        text.avgdl = self._average or 1.0
        text.idf = dict(zip(terms, self.idf(terms), strict=True))
        return float(text.get_scores(terms)[0])

    def idf(self, terms: Sequence[str]) -> list[float]:
        """idf of every term; a term that occurs nowhere gets the highest value that the formula can give."""
        every, known, unseen = self._idf.data, len(self._idf), self._unseen_idf
        columns = map(self._vocabulary.get, terms)
        return [every[column] if column is not None and column < known else unseen for column in columns]

    def frequencies(self) -> dict[str, int]:
        """In how many rows each term occurs, of those that occur."""
        counts = np.diff(self._indptr).tolist()
        return {term: count for term, count in zip(self._vocabulary, counts, strict=False) if count}

    def _scores(self, terms: Sequence[str]) -> Scores:
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        if found := list(self._postings(terms)):
            # All terms at once, by places of the machine's width: up to 20,000 chunks, numpy's calls for each term
            # were half of it.
            times, rows, counts = zip(*found, strict=True)
            places = np.concatenate(rows).astype(np.intp)
            each = np.repeat(np.array(times, np.float32), list(map(len, rows)))
            np.add.at(scores, places, _saturated(each, np.concatenate(counts), self._norm.take(places)))
        return scores

    def _postings(self, terms: Sequence[str]) -> Iterator[tuple[np.float32, NDArray[Any], NDArray[Any]]]:
        """Of every term that occurs: idf times its count in the query, its rows (rising), its counts there."""
        for term, times in Counter(terms).items():
            column = self._vocabulary.get(term)
            if column is not None and self._occurs(column):
                span = slice(self._indptr[column], self._indptr[column + 1])
                yield np.float32(times * self._idf[column]), self._indices[span], self._counts[span]

    def _occurs(self, column: int) -> bool:
        return column + 1 < len(self._indptr) and bool(self._indptr[column + 1] > self._indptr[column])


def _saturated(times: np.float32 | Scores, counts: NDArray[Any], norm: NDArray[np.float32]) -> Scores:
    """What so many occurrences of terms of these idf add to scores; `norm` is written to."""
    frequency = counts.astype(np.float32)
    norm += frequency
    np.divide(frequency, norm, out=norm)
    norm *= times * np.float32(OKAPI.k1 + 1)
    return norm


def _narrow(values: NDArray[Any], below: int | None = None) -> NDArray[Any]:
    """In the fewest bytes that hold whole numbers `below` this, or those that are there."""
    return values.astype(np.min_scalar_type(below if below is not None else int(values.max(initial=0))), copy=False)


def _counted(documents: Sequence[TermIds], places: NDArray[np.int64], rows: int) -> Any:
    """How often each term occurs in each document, compressed by terms; document i is the row `places[i]` of `rows`."""
    flat = np.concatenate(documents) if documents else np.zeros(0, dtype=np.int32)
    # Places in 32 bits as long as they fit: in 64, scipy would double what is kept.
    starts = np.zeros(len(documents) + 1, dtype=np.int32 if len(flat) < np.iinfo(np.int32).max else np.int64)
    np.cumsum([len(terms) for terms in documents], out=starts[1:])
    columns = int(flat.max(initial=-1)) + 1
    counts = csr_array((np.ones(len(flat), dtype=np.int32), flat, starts), shape=(len(documents), columns))
    counts.sum_duplicates()
    counts.data = np.minimum(counts.data, np.iinfo(np.uint16).max).astype(np.uint16)
    by_term = counts.tocsc()
    return csc_array((by_term.data, places[by_term.indices].astype(np.int32), by_term.indptr), shape=(rows, columns))


def document_idf(document_frequency: NDArray[np.int32], rows: int) -> NDArray[np.float64]:
    """BM25Okapi's idf of every column, from document frequencies counted in bulk; 0 of what does not occur."""
    idf = np.zeros(len(document_frequency))
    occurring = np.flatnonzero(document_frequency)
    if not len(occurring):
        return idf
    frequencies = document_frequency[occurring]
    found = np.log(rows - frequencies + 0.5) - np.log(frequencies + 0.5)
    average = found.mean()
    if average > 0:
        idf[occurring] = np.where(found < 0, OKAPI.epsilon * average, found)
    else:  # a handful of chunks: Okapi's idf is negative for all that occurs, Lucene's is not
        idf[occurring] = np.log1p((rows - frequencies + 0.5) / (frequencies + 0.5))
    return idf
