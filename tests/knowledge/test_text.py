from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.text import Analyzer, clean, fold, split_variants

PLAIN = Analyzer()


@pytest.mark.parametrize(
    "identifier", ["AX-3000", "SF-20240101-0012", "v2.10.3", "config/app.yaml", "A#12", "user_name", "X+1"]
)
def test_model_numbers_order_ids_and_versions_are_kept_whole(identifier: str) -> None:
    assert identifier.lower() in PLAIN.tokenize(f"请问{identifier}在哪里查")


@pytest.mark.parametrize("identifier", ["JD20240101123", "13800138000", "x5a"])
def test_letters_and_digits_without_a_separator_stay_together(identifier: str) -> None:
    assert identifier.lower() in PLAIN.tokenize(f"订单{identifier}到哪了")


def test_the_parts_of_a_model_number_are_found_too() -> None:
    assert {"ax", "3000"} <= set(PLAIN.tokenize("AX-3000"))
    assert {"x", "5", "a"} <= set(PLAIN.tokenize("x5a"))


@pytest.mark.parametrize("written", ["h30pro", "H30PRO", "h30 pro", "H30-Pro", "h30_pro", "Ｈ30ｐｒｏ"])
def test_a_model_and_its_variant_are_two_words_however_written(written: str) -> None:
    assert PLAIN.tokenize(f"{written}怎么充电") == PLAIN.tokenize("H30 Pro怎么充电")
    assert {"h30", "pro"} <= set(PLAIN.tokenize(written)) & set(PLAIN.tokenize(f"YS-{written}"))


def test_several_suffixes_and_a_model_of_digits_are_apart() -> None:
    assert {"15", "pro", "max"} <= set(PLAIN.tokenize("苹果15promax"))


@pytest.mark.parametrize("text", ["order-a1-se-77", "a20240101pro", "v8.maximum", "v8 profile", "a1-pro.md", "8air7"])
def test_what_is_no_variant_of_a_model_stays_as_it_is(text: str) -> None:
    assert split_variants(text) == text


def test_a_variant_is_a_word_of_the_tenant_however_written() -> None:
    assert Analyzer(["h30pro"]).tokenize("H30 Pro") == Analyzer(["H30 Pro"]).tokenize("h30pro")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("ＡＸ－３０００", "ax-3000"),
        ("退貨運費", "退货运费"),
        ("帳號無法登錄", "帐号无法登录"),
        ("WiFi", "wifi"),
        ("①号店", "1号店"),
        ("ﬁle", "file"),
    ],
)
def test_width_script_and_case_do_not_matter(written: str, plain: str) -> None:
    assert fold(written) == plain
    assert PLAIN.tokenize(written) == PLAIN.tokenize(plain)


def test_single_characters_and_pairs_find_what_the_dictionary_splits_wrongly() -> None:
    assert {"花", "呗", "花呗"} <= set(PLAIN.tokenize("花呗怎么还款"))


def test_repetitions_are_kept_and_punctuation_is_not() -> None:
    assert PLAIN.tokenize("退款，退款！").count("退款") > PLAIN.tokenize("退款").count("退款")
    assert PLAIN.tokenize("？！……，。") == PLAIN.tokenize("") == PLAIN.tokenize("  \n") == []


def test_controls_and_lone_surrogates_are_taken_out() -> None:
    assert clean("退\0货\ud800\u200b运\u202e费\ufeff") == "退货运费"
    assert clean("第一行\n第二行\t制表") == "第一行\n第二行\t制表"
    assert PLAIN.tokenize("退\0货") == PLAIN.tokenize("退货")


@given(st.text(alphabet=st.characters()))
def test_any_text_can_be_tokenised(text: str) -> None:
    tokens = PLAIN.tokenize(text)
    assert all(token and token == token.strip() for token in tokens)
    for token in tokens:
        token.encode()


def test_words_of_the_tenant_are_not_split() -> None:
    assert "登不上去" not in PLAIN.tokenize("我登不上去了")
    assert "登不上去" in Analyzer(["登不上去"]).tokenize("我登不上去了")


@pytest.mark.parametrize("word", ["AC-500空调", "iPhone 15 Pro", "5G畅享套餐", "C++课程", "會員卡"])
def test_words_of_the_tenant_are_kept_whatever_they_are_written_with(word: str) -> None:
    assert fold(word) in Analyzer([word]).tokenize(f"我的{word}怎么用")


def test_words_of_one_tenant_do_not_reach_another() -> None:
    Analyzer(["登不上去"]).tokenize("我登不上去了")
    assert "登不上去" not in PLAIN.tokenize("我登不上去了")
    assert "登不上去" not in Analyzer(["别的词"]).tokenize("我登不上去了")


def test_synonyms_are_added_wherever_the_term_occurs() -> None:
    analyzer = Analyzer(synonyms={"快递": ("物流",)})
    assert {"快递", "物流"} <= set(analyzer.tokenize("快递到哪了"))
    assert "物流" not in analyzer.tokenize("发票怎么开")


def test_synonyms_of_several_words_work_on_both_sides() -> None:
    added = Analyzer(synonyms={"登不上去": ("无法登录",)}).tokenize("我登不上去了")
    assert {"无法", "登录"} <= set(added)


def test_a_latin_synonym_wants_the_whole_word() -> None:
    analyzer = Analyzer(synonyms={"AI": ("人工智能",)})
    assert "智能" in analyzer.tokenize("你们的ai客服")
    assert "智能" not in analyzer.tokenize("email收不到")


def test_synonyms_ignore_width_script_and_case() -> None:
    assert "物流" in Analyzer(synonyms={"快遞": ("物流",)}).tokenize("快递到哪了")
    assert "智能" in Analyzer(synonyms={"ＡＩ": ("人工智能",)}).tokenize("AI客服")


@pytest.mark.parametrize(
    "text",
    [
        "退换货运费由商家承担",
        "YS-V8 Max 显示 E03 怎么辦",
        "how to return 耳機",
        "登录 云朵+ 会员 2.4G Wi-Fi",
        "",
        "？！",
    ],
)
def test_occurring_knows_every_token_and_nothing_else(text: str) -> None:
    analyzer = Analyzer(["云朵+"], {"耳机": ("耳塞",)})
    tokens = set(analyzer.tokenize(text))
    occurring = analyzer.find_occurrences(text)
    assert occurring.find_among(tokens) == tokens
    elsewhere = set(analyzer.tokenize("运费险 退回 V80 E0 机耳 会员卡 5 return policy ys-v8-max 录登")) - tokens
    assert not occurring.find_among(elsewhere)
