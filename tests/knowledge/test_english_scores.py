from __future__ import annotations

from collections.abc import Sequence

import pytest

from knowledge.english_scores import map_to_chinese_scale
from knowledge.probability import CalibrationMap
from knowledge.rerankers.base import Query
from tests.knowledge.builders import chunk

ENGLISH = "who pays for the return"
CHUNKS = (chunk("c0", "退货运费由买家承担，质量问题由卖家承担。"), chunk("c1", "The buyer pays for returns."))
LACKING = CalibrationMap("cosine", 0.5, 0.6, 0.7, english=0.1)


def query(text: str, translates: str | None = None) -> Query:
    return Query(text, (), None, translates)


def scores(
    queries: Sequence[Query], *given: Sequence[float], calibration: CalibrationMap = LACKING
) -> list[list[float]]:
    return map_to_chinese_scale(queries, given, CHUNKS, calibration)


def test_an_english_question_gets_what_it_lacks_on_chinese_passages_alone() -> None:
    assert scores([query(ENGLISH)], [0.5, 0.5]) == [pytest.approx([0.6, 0.5])]


def test_a_chinese_question_keeps_its_scores() -> None:
    assert scores([query("退货运费谁出")], [0.5, 0.5]) == [[0.5, 0.5]]


def test_a_question_and_its_translation_share_the_mean_on_chinese_passages() -> None:
    queries = [query(ENGLISH), query("谁 支付 退货", ENGLISH)]
    assert scores(queries, [0.5, 0.5], [0.8, 0.3]) == [pytest.approx([0.7, 0.5]), pytest.approx([0.7, 0.3])]


def test_without_a_word_of_english_in_the_calibration_all_stays() -> None:
    queries = [query(ENGLISH), query("谁 支付 退货", ENGLISH)]
    plain = CalibrationMap("cosine", 0.5, 0.6, 0.7)
    assert scores(queries, [0.5, 0.5], [0.8, 0.3], calibration=plain) == [[0.5, 0.5], [0.8, 0.3]]
