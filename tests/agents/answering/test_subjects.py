from __future__ import annotations

from dataclasses import replace

import pytest

from agents.answering.subjects import find_other_subject
from agents.types import Question
from agents.understanding.state import DialogueState
from agents.understanding.utterance import RewriteKind, Utterance
from knowledge.types import Candidate
from tests.agents.support import ask, candidate

KETTLE = candidate("容量 1.7 升，烧开约 5 分钟。", title="QD-K3 电水壶说明", heading=("规格",))


def _about(text: str, *questions: str) -> Question:
    return replace(ask(text), state=DialogueState(questions))


def test_another_model_is_named_and_its_question_offered() -> None:
    found = find_other_subject(ask("K7 能装多少水？"), [KETTLE])
    assert found is not None
    assert (found.asked_model, found.found, found.question) == ("K7", "QD-K3", "QD-K3 能装多少水")


def test_the_model_of_the_conversation_counts_where_the_message_names_none() -> None:
    found = find_other_subject(_about("能装多少", "QD-K7 多少钱"), [KETTLE])
    assert found is not None
    assert (found.asked_model, found.question) == ("QD-K7", "QD-K3 能装多少")
    assert find_other_subject(_about("电水壶能装多少", "QD-K7 多少钱"), [KETTLE]) is None
    assert find_other_subject(_about("能装多少", "QD-K3 多少钱"), [KETTLE]) is None


def test_what_leans_on_the_question_before_is_offered_as_a_whole() -> None:
    utterance = Utterance("那 K7 呢").add_rewrite("K7 能装多少水", RewriteKind.RULES, searched=False)
    found = find_other_subject(replace(_about("那 K7 呢", "K3 能装多少水"), utterance=utterance), [KETTLE])
    assert found is not None
    assert found.question == "QD-K3 能装多少水"


@pytest.mark.parametrize(
    ("message", "passage"),
    [
        ("K3 能装多少水", KETTLE),
        ("QD-K3 和 K7 哪个装得多", KETTLE),
        ("K7 保修多久", candidate("小家电保修 12 个月，从签收起算。", title="保修政策")),
        ("K7 保修多久", candidate("小家电保修 12 个月。QD-K3 的滤网除外。", title="保修政策")),
        ("K7 能装多少水", candidate("K3 为 1.7 升，K7 为 2 升。", title="电水壶对比")),
        ("能用 USB-C 充电吗", KETTLE),
        ("iPhone 15 能连吗", KETTLE),
        ("E03 是什么意思", KETTLE),
        ("能装多少水", KETTLE),
    ],
)
def test_a_general_passage_and_the_right_model_answer(message: str, passage: Candidate) -> None:
    assert find_other_subject(ask(message), [passage]) is None


def test_one_passage_on_the_right_model_is_enough() -> None:
    right = candidate("QD-K7 的滤网每月清洗一次。", title="滤网保养", number=1)
    assert find_other_subject(ask("K7 怎么洗"), [KETTLE, right]) is None


def test_a_variant_is_another_model_and_a_code_another_code() -> None:
    assert find_other_subject(ask("K3 Pro 能装多少水"), [KETTLE]) is not None
    code = candidate("E01：缺水，请加水后重启。", title="故障代码")
    found = find_other_subject(ask("E08 是什么意思"), [code])
    assert found is not None
    assert found.question == "E01 是什么意思"
