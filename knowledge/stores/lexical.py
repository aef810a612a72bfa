"""BM25 over stored term ids: rank-bm25's BM25Okapi, whose scores of a whole base come from a sparse matrix of counts.

A query touches only the postings of its own terms: its `get_scores` needs 108 ms at 100,000 chunks, and its
constructor, which counts token by token in Python, holds the interpreter for 1.9 s. What a posting adds to a score is
computed when it is asked for: kept, it would take as much memory as all the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from knowledge.stores.recent_results import RecentResults
from knowledge.types import TermIds

# Its k1, b and epsilon are ours; its one word does not matter.
OKAPI = BM25Okapi([[""]])
Scores = NDArray[np.float32]


class Postings(NamedTuple):
    """Postings by term id: `rows[starts[term]:starts[term + 1]]` are the rows of a term, rising, `counts` how often
    it occurs.
    """

    starts: NDArray[Any]
    rows: NDArray[Any]
    counts: NDArray[Any]


class LexicalIndex:
    """Immutable BM25 (Okapi, with the defaults of rank-bm25) of one revision; equal to `BM25Okapi.get_scores` in
    float32.

    Args:
        vocabulary: Term -> id, iterating in the order of ids, which are 0, 1, 2... It may know more terms than occur
            here,
            and may grow while this index is in use.
    """

    def __init__(self, documents: Sequence[TermIds], vocabulary: Mapping[str, int]) -> None:
        """documents: term ids of each chunk, in row order."""
        self._set_up(_count_terms(documents, np.arange(len(documents))), _measure_lengths(documents), vocabulary)

    def build_next(self, documents: Sequence[TermIds], source: NDArray[np.int64]) -> LexicalIndex:
        """Builds the index of a later revision.

        Args:
            documents: The term ids of the added rows.
            source: For each new row the number of the row it comes from: this index's rows, then `documents`. It keeps
                the
                order of this index's rows.
        """
        rows, is_old = len(self._lengths), source < len(self._lengths)
        added = _count_terms([documents[row - rows] for row in source[~is_old].tolist()], np.flatnonzero(~is_old))
        kept = self._move_postings(source[is_old], np.flatnonzero(is_old))
        lengths = np.concatenate([self._lengths, _measure_lengths(documents)])[source]
        later = LexicalIndex.__new__(LexicalIndex)
        later._set_up(_merge_postings(kept, added, len(source)), lengths, self._vocabulary)
        return later

    def _move_postings(self, old: NDArray[np.int64], new: NDArray[np.int64]) -> Postings:
        """Returns the postings of the rows `old`, renumbered to the rows `new`."""
        moved = np.full(len(self._lengths), -1, dtype=np.int32)
        moved[old] = new
        kept = Postings(self._indptr, moved[self._indices], self._counts)
        if len(old) < len(self._lengths):
            stays = kept.rows >= 0
            starts = np.concatenate([[0], np.cumsum(stays)])[kept.starts].astype(kept.starts.dtype)
            kept = Postings(starts, kept.rows[stays], kept.counts[stays])
        return kept

    def _set_up(self, postings: Postings, lengths: NDArray[np.int32], vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._lengths = lengths
        self._indptr, self._counts = postings.starts, _pack_integers(postings.counts)
        self._indices = _pack_integers(postings.rows, len(lengths))
        self._average = float(lengths.mean()) if len(lengths) else 0.0
        occurring = np.diff(self._indptr)
        self._unseen_idf = float(np.log(len(lengths) + 0.5) - np.log(0.5)) if len(lengths) else 0.0
        self._idf = np.where(occurring > 0, compute_idf(occurring, len(lengths)), self._unseen_idf)
        # What a term's frequency is set against in a chunk of that length.
        self._norm = (OKAPI.k1 * (1 - OKAPI.b + OKAPI.b * lengths / (self._average or 1.0))).astype(np.float32)
        self._recent: RecentResults[tuple[str, ...], Scores] = RecentResults()

    def score_all(self, terms: Sequence[str]) -> Scores:
        """Returns the BM25 of every row, shape (rows,), read-only; a term that the query repeats counts each time."""
        return self._recent.get(tuple(terms), self._compute_scores)

    def score_rows(self, terms: Sequence[str], rows: Sequence[int]) -> Scores:
        """Returns the BM25 of some rows, shape (len(rows),), without touching the postings of the others."""
        if (known := self._recent.find(tuple(terms))) is not None:
            return known[list(rows)]
        wanted = np.asarray(rows, dtype=self._indices.dtype)
        scores = np.zeros(len(wanted), dtype=np.float32)
        for times, found, counts in self._list_postings(terms):
            places = np.minimum(np.searchsorted(found, wanted), len(found) - 1)
            scores += np.where(
                found[places] == wanted, _compute_saturation(times, counts[places], self._norm[wanted]), 0
            )
        return scores

    def score_tokens(self, terms: Sequence[str], tokens: Sequence[str]) -> float:
        """Returns the BM25 that a text of these tokens would have with the statistics of this index."""
        if not tokens:
            return 0.0
        text = BM25Okapi([tokens])
        text.avgdl = self._average or 1.0
        text.idf = dict(zip(terms, self.get_idf(terms), strict=True))
        return float(text.get_scores(terms)[0])

    def get_idf(self, terms: Sequence[str]) -> list[float]:
        """Returns the idf of every term; one that occurs nowhere gets the highest value that the formula can give."""
        every, known, unseen = self._idf.data, len(self._idf), self._unseen_idf
        columns = map(self._vocabulary.get, terms)
        return [every[column] if column is not None and column < known else unseen for column in columns]

    def get_frequencies(self) -> dict[str, int]:
        """Returns in how many rows each occurring term occurs."""
        counts = np.diff(self._indptr).tolist()
        return {term: count for term, count in zip(self._vocabulary, counts, strict=False) if count}

    def _compute_scores(self, terms: Sequence[str]) -> Scores:
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        if found := list(self._list_postings(terms)):
            # All terms at once, by places of the machine's width: up to 20,000 chunks, numpy's calls for each term
            # were half of it.
            times, rows, counts = zip(*found, strict=True)
            places = np.concatenate(rows).astype(np.intp)
            each = np.repeat(np.array(times, np.float32), list(map(len, rows)))
            np.add.at(scores, places, _compute_saturation(each, np.concatenate(counts), self._norm.take(places)))
        return scores

    def _list_postings(self, terms: Sequence[str]) -> Iterator[tuple[np.float32, NDArray[Any], NDArray[Any]]]:
        """Yields for every occurring term: idf times its count in the query, its rows (rising), and its counts
        there.
        """
        for term, times in Counter(terms).items():
            column = self._vocabulary.get(term)
            if column is not None and self._has_postings(column):
                span = slice(self._indptr[column], self._indptr[column + 1])
                yield np.float32(times * self._idf[column]), self._indices[span], self._counts[span]

    def _has_postings(self, column: int) -> bool:
        return column + 1 < len(self._indptr) and bool(self._indptr[column + 1] > self._indptr[column])


def _compute_saturation(times: np.float32 | Scores, counts: NDArray[Any], norm: NDArray[np.float32]) -> Scores:
    """Returns what these counts of terms with these idf add to scores; overwrites `norm`."""
    frequency = counts.astype(np.float32)
    norm += frequency
    np.divide(frequency, norm, out=norm)
    norm *= times * np.float32(OKAPI.k1 + 1)
    return norm


def _pack_integers(values: NDArray[Any], below: int | None = None) -> NDArray[Any]:
    """Converts whole numbers to the smallest type that holds them, or all numbers up to `below`."""
    return values.astype(np.min_scalar_type(below if below is not None else int(values.max(initial=0))), copy=False)


def _measure_lengths(documents: Sequence[TermIds]) -> NDArray[np.int32]:
    return np.array([len(terms) for terms in documents], np.int32)


def _count_terms(documents: Sequence[TermIds], places: NDArray[np.int64]) -> Postings:
    """Counts how often each term occurs in each document; document i is the row `places[i]`, which rise."""
    terms = np.concatenate(documents) if documents else np.zeros(0, dtype=np.int32)
    spans = _compute_starts(np.bincount(terms))
    # Rows rise already, so that a stable sort by terms is all; of 16 bits at a time numpy's is linear (radix).
    order = np.argsort(terms.astype(np.uint16), kind="stable")
    if len(spans) > 1 << 16:
        order = order[np.argsort((terms >> 16).astype(np.uint16)[order], kind="stable")]
    rows = np.repeat(places.astype(np.int32), _measure_lengths(documents))[order]
    del terms, order  # 150 MB at 100,000 chunks
    is_first = np.ones(len(rows), bool)
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    is_first[spans[:-1][spans[:-1] < len(rows)]] = True
    firsts = np.flatnonzero(is_first)
    counts = np.minimum(np.diff(firsts, append=len(rows)), np.iinfo(np.uint16).max).astype(np.uint16)
    return Postings(np.searchsorted(firsts, spans).astype(spans.dtype), rows[firsts], counts)


def _merge_postings(kept: Postings, added: Postings, rows: int) -> Postings:
    """Merges postings of different rows, all numbered below `rows`."""
    frequencies = np.zeros(max(len(kept.starts), len(added.starts)) - 1, np.int64)
    for each in (kept, added):
        frequencies[: len(each.starts) - 1] += np.diff(each.starts)
    before = np.searchsorted(_build_keys(kept, rows), _build_keys(added, rows))
    return Postings(
        _compute_starts(frequencies),
        np.insert(kept.rows, before, added.rows),
        np.insert(kept.counts.astype(np.uint16), before, added.counts),
    )


def _build_keys(postings: Postings, rows: int) -> NDArray[np.int64]:
    """Returns numbers in the order of the postings, by which they are sorted."""
    terms = np.repeat(np.arange(len(postings.starts) - 1) * rows, np.diff(postings.starts))
    terms += postings.rows
    return terms


def _compute_starts(frequencies: NDArray[np.int64]) -> NDArray[Any]:
    """Returns where each term's postings start, and where the last one's end; in 32 bits as long as they fit."""
    starts = np.concatenate([[0], np.cumsum(frequencies)])
    return starts.astype(np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64)


def compute_idf(document_frequency: NDArray[np.int32], rows: int) -> NDArray[np.float64]:
    """Returns BM25Okapi's idf of every column from document frequencies counted in bulk; 0 for terms that do not
    occur.
    """
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
