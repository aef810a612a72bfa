from __future__ import annotations

import pytest

from knowledge.english import in_chinese


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
    assert in_chinese(question) == chinese


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
    assert in_chinese(question) is None
