from __future__ import annotations

import jieba

from knowledge.calibration.questions import (
    load_english_off_topic_questions,
    load_off_topic_questions,
    make_pseudo_questions,
)
from tests.knowledge.builders import TEXTS, chunks, faq


def test_off_topic_questions_are_many_distinct_and_short() -> None:
    questions = load_off_topic_questions()
    assert len(questions) >= 90
    assert len(set(questions)) == len(questions)
    assert all(question == question.strip() and 2 <= len(question) <= 60 for question in questions)


def test_english_off_topic_questions_are_many_and_distinct() -> None:
    questions = load_english_off_topic_questions()
    assert len(set(questions)) == len(questions) >= 60


def test_off_topic_questions_ask_nothing_that_a_company_would_document() -> None:
    business = ("退货", "退款", "发货", "快递", "发票", "订单", "会员", "账号", "密码", "客服", "保修", "售后")
    assert [question for question in load_off_topic_questions() if any(word in question for word in business)] == []


def test_a_base_always_gets_the_same_questions() -> None:
    assert make_pseudo_questions(chunks(*TEXTS)) == make_pseudo_questions(chunks(*TEXTS))


def test_another_seed_gives_other_questions() -> None:
    assert make_pseudo_questions(chunks(*TEXTS)) != make_pseudo_questions(chunks(*TEXTS), seed=8)


def test_there_are_as_many_as_asked_for_even_from_one_chunk() -> None:
    assert len(make_pseudo_questions(chunks(*TEXTS), count=30)) == 30
    assert len(make_pseudo_questions(chunks(TEXTS[0]), count=30)) == 30


def test_they_are_made_of_the_words_of_the_base() -> None:
    words = set(jieba.lcut("".join(TEXTS)))
    for question in make_pseudo_questions(chunks(*TEXTS), count=50):
        assert len(words & set(jieba.lcut(question))) >= 1


def test_every_chunk_of_a_small_base_has_its_turn() -> None:
    texts = [f"{letter * 8}说明如下" for letter in "甲乙丙丁戊己庚辛"]
    asked = "".join(make_pseudo_questions(chunks(*texts), count=40))
    assert all(letter in asked for letter in "甲乙丙丁戊己庚辛")


def test_a_faq_entry_lends_its_question() -> None:
    entry = faq("f", "忘记密码怎么重新设置", "请在页面右上方点击找回", "f")
    assert "右上方" not in "".join(make_pseudo_questions([entry], count=40))


def test_nothing_to_ask_about_gives_no_question() -> None:
    assert make_pseudo_questions([]) == []
    assert make_pseudo_questions(chunks("！！！", "……")) == []
