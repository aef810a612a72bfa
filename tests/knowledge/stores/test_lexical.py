from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from knowledge.stores.lexical import LexicalIndex
from knowledge.stores.recent_results import SIZE
from knowledge.types import TermIds
from tests.knowledge.builders import ANALYZER, TEXTS

WORDS = tuple("abcdefghij")
CORPUS = (*TEXTS, *(text[::-1] for text in TEXTS), "退货退货退货", "的的的的")


def index(documents: list[list[str]], spare: tuple[str, ...] = ()) -> LexicalIndex:
    """`spare` terms are in the vocabulary and in no document, as after a deletion."""
    vocabulary: dict[str, int] = {}
    for term in (*spare, *(term for tokens in documents for term in tokens)):
        vocabulary.setdefault(term, len(vocabulary))
    return LexicalIndex([ids(vocabulary, tokens) for tokens in documents], vocabulary)


def ids(vocabulary: dict[str, int], tokens: list[str]) -> TermIds:
    return np.array([vocabulary[token] for token in tokens], dtype=np.int32)


def reference(documents: list[list[str]], query: list[str]) -> list[float]:
    scores: list[float] = BM25Okapi(documents).get_scores(query).tolist()
    return scores


@pytest.mark.parametrize(
    "query",
    ["退货的运费谁承担", "退货退货退货", "从未出现的词语", "路由器AX-3000怎么重启", "", "的"],
    ids=["usual", "repeated", "unknown", "model", "empty", "common"],
)
def test_scores_on_chinese_text_are_those_of_rank_bm25(query: str) -> None:
    documents = [ANALYZER.tokenize(text) for text in CORPUS]
    tokens = ANALYZER.tokenize(query)
    np.testing.assert_allclose(index(documents).score_all(tokens), reference(documents, tokens), rtol=1e-6, atol=1e-9)


@settings(max_examples=150, deadline=None)
@given(
    documents=st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=3, max_size=25),
    query=st.lists(st.sampled_from((*WORDS, "unknown")), max_size=8),
)
def test_scores_are_those_of_rank_bm25(documents: list[list[str]], query: list[str]) -> None:
    # Elsewhere rank_bm25's own scores are negative or undefined, see below.
    assume(any(documents) and BM25Okapi(documents).average_idf > 1e-9)
    mine = index(documents, ("spare",)).score_all(query)
    np.testing.assert_allclose(mine, reference(documents, query), rtol=1e-6, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    documents=st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=25),
    query=st.lists(st.sampled_from((*WORDS, "unknown")), max_size=8),
)
def test_a_chunk_scores_above_zero_exactly_if_it_shares_a_term(documents: list[list[str]], query: list[str]) -> None:
    assume(len(documents) % 2)  # in exactly half of the chunks Okapi's idf is 0
    scores = index(documents).score_all(query)
    assert [bool(score > 0) for score in scores] == [not set(query).isdisjoint(tokens) for tokens in documents]


@settings(max_examples=60, deadline=None)
@given(
    documents=st.lists(st.lists(st.sampled_from(WORDS), max_size=12), min_size=1, max_size=25),
    query=st.lists(st.sampled_from((*WORDS, "unknown")), max_size=8),
    data=st.data(),
)
def test_scores_at_some_rows_are_those_of_all(
    documents: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    rows = data.draw(st.lists(st.integers(0, len(documents) - 1), max_size=10))
    lexical = index(documents)
    np.testing.assert_allclose(lexical.score_rows(query, rows), lexical.score_all(query)[rows], rtol=1e-6)


def test_a_text_of_the_base_scores_as_rank_bm25_scores_it() -> None:
    documents = [ANALYZER.tokenize(text) for text in CORPUS]
    query = ANALYZER.tokenize("退货的运费谁承担，退货")
    mine = [index(documents).score_tokens(query, tokens) for tokens in documents]
    np.testing.assert_allclose(mine, reference(documents, query), rtol=1e-6, atol=1e-9)


def test_long_documents_are_scored_as_rank_bm25_does() -> None:
    generator = np.random.default_rng(3)
    documents = [[f"t{number}" for number in generator.zipf(1.3, 400) % 500] for _ in range(60)]
    query = [f"t{number}" for number in generator.zipf(1.3, 30) % 500]
    np.testing.assert_allclose(index(documents).score_all(query), reference(documents, query), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("documents", [[["甲"]], [["甲", "乙"]], [["甲"], ["甲"]], [["甲"], ["甲", "乙"], ["甲"]]])
def test_bases_of_a_handful_of_chunks_get_positive_scores(documents: list[list[str]]) -> None:
    assert (index(documents).score_all(["甲"]) > 0).all()
    assert all(value > 0 for value in index(documents).get_idf(["甲", "从未出现"]))


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
def test_bases_without_a_word_score_zero(documents: list[list[str]]) -> None:
    lexical = index(documents, ("spare",))
    assert lexical.score_all(["spare", "unknown"]).tolist() == [0.0] * len(documents)
    assert all(np.isfinite(lexical.get_idf(["spare", "unknown"])))


def test_an_empty_chunk_scores_zero_and_counts_for_the_average_length() -> None:
    documents = [["甲", "乙"], [], ["丙"], ["丁", "戊", "己"]]
    scores = index(documents).score_all(["甲", "丙"])
    assert scores[1] == 0
    np.testing.assert_allclose(scores, reference(documents, ["甲", "丙"]), rtol=1e-6)


def test_a_term_of_no_chunk_has_the_highest_idf_whether_it_is_known_or_not() -> None:
    lexical = index([["甲", "乙"], ["甲"], ["丙"], ["丁"], []], ("spare",))
    spare, unknown, rare, common = lexical.get_idf(["spare", "unknown", "乙", "甲"])
    assert spare == unknown == pytest.approx(np.log(5.5 / 0.5))
    assert unknown > rare > common > 0


@settings(max_examples=60, deadline=None)
@given(
    old=st.lists(st.lists(st.sampled_from(WORDS[:7]), max_size=12), max_size=12),
    added=st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=6),
    data=st.data(),
)
def test_a_changed_index_is_the_one_that_is_built_anew(
    old: list[list[str]], added: list[list[str]], data: st.DataObject
) -> None:
    drawn = data.draw(st.permutations(range(len(old) + len(added))))[: data.draw(st.integers(0, 18))]
    rising = iter(sorted(row for row in drawn if row < len(old)))
    source = [next(rising) if row < len(old) else row for row in drawn]
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    before, after = ([ids(vocabulary, tokens) for tokens in part] for part in (old, added))
    changed = LexicalIndex(before, vocabulary).build_next(after, np.array(source, dtype=np.int64))
    anew = LexicalIndex([[*before, *after][row] for row in source], vocabulary)
    for query in (["a", "h"], list(WORDS)):
        np.testing.assert_allclose(changed.score_rows(query, range(len(source))), anew.score_all(query), rtol=1e-6)
        np.testing.assert_allclose(changed.score_all(query), anew.score_all(query), rtol=1e-6)
    assert changed.get_idf(WORDS) == anew.get_idf(WORDS)


def test_a_vocabulary_that_grew_since_changes_nothing() -> None:
    vocabulary = {"甲": 0, "乙": 1}
    lexical = LexicalIndex([ids(vocabulary, tokens) for tokens in (["甲"], ["乙"], ["乙", "甲"])], vocabulary)
    before = lexical.score_all(["甲", "丙"]).tolist(), lexical.get_idf(["丙"])
    vocabulary["丙"] = 2
    assert (lexical.score_all(["丙", "甲"]).tolist(), lexical.get_idf(["丙"])) == before


def test_scores_asked_again_are_not_computed_again() -> None:
    lexical = index([ANALYZER.tokenize(text) for text in CORPUS])
    tokens = ANALYZER.tokenize("退货的运费谁承担")
    assert lexical.score_all(tokens) is lexical.score_all(list(tokens))
    first = lexical.score_all(tokens)
    for number in range(SIZE):
        lexical.score_all([f"别的问题{number}"])
    assert lexical.score_all(tokens) is not first
    np.testing.assert_array_equal(lexical.score_all(tokens), first)
