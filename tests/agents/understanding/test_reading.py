from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from datetime import date
from functools import cached_property

import pytest

from agents.types import Question
from agents.understanding import emotion, reading
from agents.understanding.acts import Act
from agents.understanding.answer_type import AnswerType
from agents.understanding.causes import Cause
from agents.understanding.consent import Consent, Reply
from agents.understanding.reading import Reading, read
from agents.understanding.safety import Danger
from agents.understanding.tickets import Wish
from agents.understanding.utterance import RewriteKind, Utterance

FIELDS = [name for name, value in vars(Reading).items() if isinstance(value, cached_property)]
MESSAGES = [
    "亲，YS-V8 咋退货啊？运费多少钱",
    "空调冒烟了，帮我报个修！！",
    "好的",
    "",
    "转人工",
    "my order, please",
    "1.退货 2.换货",
]


def values(text: str) -> dict[str, object]:
    taken = read(text)
    return {name: getattr(taken, name) for name in FIELDS}


@pytest.mark.parametrize("text", MESSAGES)
def test_the_same_text_gives_the_same_reading(text: str) -> None:
    assert read(text) == read(text) and hash(read(text)) == hash(read(text))
    assert values(text) == values(text)


def test_nothing_of_it_can_be_changed() -> None:
    for name in ("text", *FIELDS):
        with pytest.raises(FrozenInstanceError):
            setattr(read("怎么退货"), name, None)


def test_what_was_read_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(text: str) -> emotion.Emotion:
        calls.append(text)
        return emotion.CALM

    monkeypatch.setattr(reading, "detect_emotion", counted)
    taken = read("太慢了")
    assert taken.emotion is taken.emotion and calls == ["太慢了"]


def test_it_tells_what_a_message_says() -> None:
    taken = read("亲，YS-V8 咋退货啊？运费多少钱")
    assert taken.normalized_text == "YS-V8 怎么退货啊？运费多少钱"
    assert [entity.value for entity in taken.mentions.certain] == ["YS-V8"]
    assert (taken.act, taken.reply, taken.is_english, taken.has_chinese) == (Act.ASKS, None, False, True)
    assert AnswerType.AMOUNT in taken.answer_types and len(taken.sub_question_texts) == 2
    assert (taken.emotion.score, taken.dangers, taken.cause) == (0, frozenset(), Cause.COMPLAINT)


@pytest.mark.parametrize(
    ("text", "act", "reply"),
    [
        ("谢谢", Act.THANKS, None),
        ("好的", Act.ACKNOWLEDGES, Reply(Consent.CONFIRM)),
        ("算了，不用了", Act.TELLS, Reply(Consent.CANCEL)),
        ("另外遥控器也坏了", Act.TELLS, Reply(Consent.SUPPLEMENT, "遥控器也坏了")),
        ("转人工", Act.ASKS_PERSON, None),
        ("帮我建个工单", Act.ASKS_TICKET, Reply(Consent.CONFIRM)),
        ("我的工单怎么样了", Act.ASKS_TICKET, None),
        ("asdfgh", Act.NOISE, None),
        ("保修几年", Act.ASKS, None),
    ],
)
def test_it_tells_the_act_and_what_it_would_say_to_a_proposal(text: str, act: Act, reply: Reply | None) -> None:
    assert (read(text).act, read(text).reply) == (act, reply)


def test_it_tells_danger_and_what_is_to_be_noted_down() -> None:
    taken = read("空调冒烟了，帮我报个修")
    assert (taken.dangers, taken.wish, taken.words_beside_request) == (
        frozenset({Danger.HARM}),
        Wish.CREATE,
        ("空调冒烟了",),
    )
    assert not read("空调会冒烟吗").statement_clauses and read("TK260301482913").ticket_number == "TK260301482913"


def test_days_are_those_of_the_day_that_it_is_read_on() -> None:
    (said,) = read("昨天签收的").find_dates(date(2026, 11, 23))
    assert said.first == said.last == date(2026, 11, 22)
    assert read("11月20号签收的").text_without_dates == "签收的"


def test_a_question_has_the_reading_of_its_text_and_keeps_it() -> None:
    question = Question(Utterance("咋退货").add_rewrite("YS-V8 怎么退货", RewriteKind.MODEL))
    assert question.utterance.reading == read("咋退货") and question.utterance.normalized == "怎么退货"
    assert replace(question, caller="M1").utterance.reading is question.utterance.reading
    assert replace(question, utterance=Utterance("转人工")).utterance.reading.act is Act.ASKS_PERSON
    assert question.utterance.expanded == read("YS-V8 怎么退货") and Utterance("咋退货").expanded.text == "咋退货"
