from __future__ import annotations

import pytest

from app.history.excerpt import find_excerpt
from app.history.terms import build_phrases, build_terms, is_prefix


def test_characters_are_terms_and_other_runs_words() -> None:
    assert build_terms("退貨運費 ＡＢ-12 Größe😀3.5") == "退 货 运 费 ab 12 größe 3 5"


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("退货运费", ["退 货", "运 费"]),
        ("的", ["的"]),
        ("发票的抬头", ["发 票", "抬 头"]),
        ("Refund 订单", ["refund", "订 单"]),
        ("？！ ", []),
        ("", []),
    ],
)
def test_what_is_looked_for_is_cut_into_words(query: str, phrases: list[str]) -> None:
    assert build_phrases(query) == phrases


def test_long_latin_words_are_found_by_their_beginning() -> None:
    assert [is_prefix(phrase) for phrase in ("refund", "ab", "2026", "退 货")] == [True, False, False, False]


def test_an_excerpt_shows_what_was_found() -> None:
    said = "前" * 80 + "请问發票怎么开" + "后" * 120
    assert "發票怎么开" in find_excerpt(said, "发票") and len(find_excerpt(said, "发票")) <= 122
    assert find_excerpt("很短的一句", "没有的词") == "很短的一句"
