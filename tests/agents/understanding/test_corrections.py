"""What a message takes back counts neither in it nor in what was asked before."""

from __future__ import annotations

import pytest

from agents.search_context import list_earlier_questions
from agents.types import Question
from agents.understanding.reading import read
from agents.understanding.state import DialogueState
from agents.understanding.utterance import Utterance


@pytest.mark.parametrize(
    ("text", "kept", "withdrawn"),
    [
        ("不是月卡，我问的是临停", "我问的是临停", ("月卡",)),
        ("打错了 不是水龙头，是马桶堵了", "打错了 是马桶堵了", ("水龙头",)),
        ("不对，我不是尊享，是标准版，几天", "不对，是标准版，几天", ("尊享",)),
        ("不是七天，应该是十五天吧", "应该是十五天吧", ("七天",)),
        ("不是会员，能买吗", "不是会员，能买吗", ()),
        ("不是会员，是不是就不能买", "不是会员，是不是就不能买", ()),
        ("我不是会员，我问一下能退吗", "我不是会员，我问一下能退吗", ()),
        ("不是质量问题，我要退货，运费谁出", "不是质量问题，我要退货，运费谁出", ()),
        ("是不是要收费，是多少", "是不是要收费，是多少", ()),
        ("不是，Pro", "不是，Pro", ()),
    ],
)
def test_a_clause_that_only_takes_something_back_goes(text: str, kept: str, withdrawn: tuple[str, ...]) -> None:
    reading = read(text)
    assert (reading.normalized_text, reading.withdrawn_words) == (kept, withdrawn)


def test_what_is_taken_back_is_no_longer_talked_about() -> None:
    state = DialogueState(questions=("换个水龙头多少钱",))
    assert list_earlier_questions(Question(Utterance("不是水龙头，是马桶堵了"), state=state)) == ("换个多少钱",)
    assert list_earlier_questions(Question(Utterance("那马桶呢"), state=state)) == state.questions


def test_what_is_taken_back_is_no_part_of_a_longer_number_or_model() -> None:
    state = DialogueState(questions=("15号签收的，H30能退吗",))
    assert list_earlier_questions(Question(Utterance("不是5号，是6号"), state=state)) == state.questions
    assert list_earlier_questions(Question(Utterance("不是H3，是H5"), state=state)) == state.questions
