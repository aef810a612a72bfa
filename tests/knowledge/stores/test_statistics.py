from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from knowledge.stores.lexical import LexicalIndex
from knowledge.stores.statistics import TermStatistics
from knowledge.types import TermIds
from tests.knowledge.builders import ANALYZER, TEXTS

TOKENS = [ANALYZER.tokens(text) for text in (*TEXTS, "", "退货退货运费")]
VOCABULARY = {token: number for number, token in enumerate(dict.fromkeys(chain(*TOKENS)))}
DOCUMENTS: list[TermIds] = [np.array([VOCABULARY[token] for token in tokens], np.int32) for tokens in TOKENS]
QUERY = [*ANALYZER.tokens("退货的运费谁承担"), "运费", "从未出现"]


def statistics(documents: list[TermIds]) -> TermStatistics:
    return TermStatistics(np.zeros(0, np.int32), 0, 0, VOCABULARY).changed(documents, [])


def test_scores_are_those_of_the_index_in_memory() -> None:
    own, index = statistics(DOCUMENTS), LexicalIndex(DOCUMENTS, VOCABULARY)
    assert [own.score(QUERY, terms) for terms in DOCUMENTS] == pytest.approx(index.scores(QUERY).tolist(), rel=1e-5)
    assert own.idf(QUERY) == pytest.approx(index.idf(QUERY))
    assert own.frequencies() == index.frequencies()
    assert [own.score_of(QUERY, tokens) for tokens in TOKENS] == pytest.approx(
        [index.score_of(QUERY, tokens) for tokens in TOKENS], rel=1e-5
    )


def test_scores_are_those_of_rank_bm25() -> None:
    scores = BM25Okapi(TOKENS).get_scores(QUERY)
    assert [statistics(DOCUMENTS).score(QUERY, terms) for terms in DOCUMENTS] == pytest.approx(scores.tolist())


def test_what_came_and_went_leaves_no_trace() -> None:
    changed = statistics(DOCUMENTS[:4]).changed(DOCUMENTS[4:], DOCUMENTS[:2])
    anew = statistics(DOCUMENTS[2:])
    assert changed.frequencies() == anew.frequencies()
    assert [changed.score(QUERY, terms) for terms in DOCUMENTS] == [anew.score(QUERY, terms) for terms in DOCUMENTS]
    assert changed.changed([], DOCUMENTS[2:]).frequencies() == {}


def test_an_empty_base_has_statistics() -> None:
    empty = statistics([])
    assert (empty.idf(["运费"]), empty.known(["运费"]), empty.score(["运费"], DOCUMENTS[0])) == ([0.0], [], 0.0)
    assert empty.score_of(["运费"], ["运费"]) == 0.0
