from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from knowledge.stores.lexical import LexicalIndex
from knowledge.stores.statistics import NOTHING, TermSpread, TermStatistics
from knowledge.types import TermIds
from tests.knowledge.builders import ANALYZER, TEXTS

TOKENS = [ANALYZER.tokenize(text) for text in (*TEXTS, "", "退货退货运费")]
VOCABULARY = {token: number for number, token in enumerate(dict.fromkeys(chain(*TOKENS)))}
DOCUMENTS: list[TermIds] = [np.array([VOCABULARY[token] for token in tokens], np.int32) for tokens in TOKENS]
QUERY = [*ANALYZER.tokenize("退货的运费谁承担"), "运费", "从未出现"]


def frequencies(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(token for tokens in texts for token in set(tokens))


def moved(statistics: TermStatistics, old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> TermStatistics:
    """From a base of these texts to one of those."""
    before, after = frequencies(old), frequencies(new)
    terms = sorted(before | after)
    counts = [np.array([each[term] for term in terms], np.int64) for each in (before, after)]
    return statistics.build_next(len(new) - len(old), sum(map(len, new)) - sum(map(len, old)), *counts)


def scores(statistics: TermStatistics, texts: Sequence[Sequence[str]]) -> list[float]:
    held = frequencies(texts)
    idf = statistics.compute_idf([held[term] for term in QUERY])
    return [statistics.score(np.array([text.count(term) for term in QUERY]), idf, len(text)) for text in texts]


def test_scores_are_those_of_the_index_in_memory() -> None:
    own, index = moved(NOTHING, [], TOKENS), LexicalIndex(DOCUMENTS, VOCABULARY)
    held = frequencies(TOKENS)
    assert scores(own, TOKENS) == pytest.approx(index.score_all(QUERY).tolist(), rel=1e-5)
    assert own.compute_idf([held[term] for term in QUERY]).tolist() == pytest.approx(index.get_idf(QUERY))


def test_scores_are_those_of_rank_bm25() -> None:
    assert scores(moved(NOTHING, [], TOKENS), TOKENS) == pytest.approx(BM25Okapi(TOKENS).get_scores(QUERY).tolist())


def test_what_came_and_went_leaves_no_trace() -> None:
    changed = moved(moved(NOTHING, [], TOKENS[:4]), TOKENS[:4], TOKENS[2:])
    anew = moved(NOTHING, [], TOKENS[2:])
    assert scores(changed, TOKENS[2:]) == scores(anew, TOKENS[2:])
    empty = moved(changed, TOKENS[2:], [])
    assert (empty.chunks, empty.tokens, empty.spread.values.size) == (0, 0, 0)


def test_an_empty_base_has_statistics() -> None:
    assert NOTHING.compute_idf([0]).tolist() == [0.0]
    assert NOTHING.score(np.array([1]), NOTHING.compute_idf([0]), 1) == 0.0


def test_the_spread_keeps_values_and_not_terms() -> None:
    spread = TermSpread.from_frequencies(np.array([3, 1, 1, 0, 1, 3]))
    assert (spread.values.tolist(), spread.counts.tolist()) == ([1, 3], [3, 2])
    moved_on = spread.move_terms(np.array([3, 0, 1]), np.array([4, 1, 0]))
    assert (moved_on.values.tolist(), moved_on.counts.tolist()) == ([1, 3, 4], [3, 1, 1])
    assert len(TermSpread.from_frequencies(np.ones(100_000, np.int64)).values) == 1


def test_the_most_frequent_terms_are_told_by_how_often_they_occur() -> None:
    spread = TermSpread.from_frequencies(np.array([5, 3, 3, 1, 1, 1]))
    assert [spread.find_least_frequency(count) for count in (0, 1, 2, 3, 5, 6, 100)] == [6, 4, 4, 2, 2, 1, 1]
    assert TermSpread.from_frequencies(np.zeros(0, np.int64)).find_least_frequency(3) == 1


def test_a_count_that_another_process_has_seen_rise_beyond_the_base_is_no_nan() -> None:
    assert np.isfinite(moved(NOTHING, [], TOKENS).compute_idf([len(TOKENS) + 5])).all()
