from __future__ import annotations

import pytest

from knowledge.english import is_chinese, is_english, list_chinese_words, translate_question


@pytest.mark.parametrize(
    ("question", "chinese"),
    [
        ("How do I return a product?", "怎么 退货 商品"),
        ("how long is the warranty", "多久 保修"),
        ("Is YS-W5 waterproof?", "ys-w5 防水"),
        ("Where is my order 202611220001?", "哪里 订单 202611220001"),
        ("I can’t log in", "不能 登录"),
    ],
)
def test_a_question_of_known_words_is_put_into_chinese(question: str, chinese: str) -> None:
    assert translate_question(question) == chinese


@pytest.mark.parametrize(
    "question",
    [
        "how to cook beef",
        "who is the president of the United States",
        "what is the weather today",
        "hello",
        "how?",
        "",
        "？？",
        "怎么 return",
        "20261122",
    ],
)
def test_a_question_of_other_words_or_with_chinese_is_left_alone(question: str) -> None:
    assert translate_question(question) is None


@pytest.mark.parametrize(
    "text",
    [
        "and for a second car?",
        "how much is the monthly pass at Yunlan Yuan (云澜苑)?",
        "who wrote this song",
        "can't log in",
    ],
)
def test_prose_is_english_with_a_chinese_name_among_its_words_too(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize("text", ["YS-W5", "wifi 怎么 reset", "iPhone 15 Pro 能退吗", "tui huo yun fei", "退货", ""])
def test_names_single_words_and_other_languages_are_not(text: str) -> None:
    assert not is_english(text)


def test_an_english_question_keeps_the_chinese_names_in_it() -> None:
    assert translate_question("How much is the monthly parking at the 云澜苑 compound?") == "多少钱 月 停车 云澜苑 小区"


def test_what_little_is_known_of_a_question_is_there_for_the_choice_of_sentences() -> None:
    assert translate_question("will the zamboni flatten the parking rink") is None
    assert list_chinese_words("will the zamboni flatten the parking rink") == "zamboni flatten 停车 rink"


def test_a_table_of_models_is_chinese_and_prose_with_a_name_is_not() -> None:
    assert is_chinese("型号：YS-W5；续航：12 天；防水：5 ATM")
    assert not is_chinese("The monthly pass of 云澜苑 is sold at the front desk.")
