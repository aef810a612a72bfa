from __future__ import annotations

from collections import Counter

import pytest

from knowledge.spelling import Correction, Speller
from knowledge.text import Analyzer

ANALYZER = Analyzer()
TEXTS = (
    "申请退款后，退款在三天内到账，恢复原额度",
    "退款请走售后，电子发票可以开具，发票抬头可以修改",
    "发票丢失可以补开，保修期内免费维修，时候不早",
    "保修期从签收算起，验证码收不到时换个时候再试",
    "验证码一天十次，部分商品不支持退款，手机请关机",
    "手机送货上门，部分地区不送货上门，第一部手机",
)
SPELLER = Speller(ANALYZER, Counter(term for text in TEXTS * 20 for term in set(ANALYZER.tokenize(text))))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("退宽多久到", "退款多久到"),
        ("怎么开发飘", "怎么开发票"),
        ("保修其有多久", "保修期有多久"),
        ("验正码收不到，发漂也没有", "验证码收不到，发票也没有"),
        ("送货上们要钱吗", "送货上门要钱吗"),
        ("什么时侯退宽", "什么时候退款"),
        ("怎麼開發飄", "怎麼開发票"),
    ],
)
def test_a_homophone_typo_becomes_the_tenants_word(wrong: str, right: str) -> None:
    assert SPELLER.correct(wrong).text == right


def test_changes_are_told_in_the_order_of_the_text() -> None:
    assert SPELLER.correct("退宽和验正码") == Correction("退款和验证码", (("退宽", "退款"), ("验正码", "验证码")))


@pytest.mark.parametrize(
    "text",
    [
        "收集哪些数据",  # sounds like 手机, and is a word
        "不分商品不支持退款吗",  # 部分 would lose the negation
        "一不手机",
        "退款多久到账",
        "开发和飘移",
        "YS-H30 的发 票 2 张",
        "refund 502",
        "",
        "？？",
        "换货",  # a word that the tenant's documents do not have
    ],
)
def test_words_numbers_models_and_negations_stay(text: str) -> None:
    assert SPELLER.correct(text) == Correction(text)


def test_what_the_documents_themselves_write_stays() -> None:
    own = Speller(ANALYZER, {"退宽": 1, "退款": 30})
    assert own.correct("退宽多久到").changes == ()


def test_a_word_of_a_single_chunk_is_no_model() -> None:
    assert Speller(ANALYZER, {"退款": 1}).correct("退宽多久到").changes == ()
    assert Speller(ANALYZER, {"退款": 2}).correct("退宽多久到").changes == (("退宽", "退款"),)


def test_a_word_that_only_the_dictionary_lacks_is_no_typo() -> None:
    texts = ("商品退回仓库后退款", "退回的商品须完好")
    speller = Speller(ANALYZER, Counter(term for text in texts * 20 for term in set(ANALYZER.tokenize(text))))
    assert speller.correct("退灰的商品").text == "退回的商品"
    assert speller.correct("我要退会").text == "我要退会"


def test_the_more_usual_of_two_words_is_meant() -> None:
    assert Speller(ANALYZER, {"发票": 40, "发表": 2}).correct("电子发漂").text == "电子发票"


def test_a_tenants_own_word_is_known_from_its_dictionary() -> None:
    own = Analyzer(words=["笙豆"])
    assert Speller(own, {"笙豆": 9}).correct("笙逗怎么用").text == "笙豆怎么用"
    assert Speller(ANALYZER, {"笙豆": 9}).correct("笙逗怎么用").changes == ()
