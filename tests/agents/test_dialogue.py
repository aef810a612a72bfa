from __future__ import annotations

import json

import pytest

from agents.dialogue import MAX_QUESTION_CHARS, MAX_QUESTIONS, MAX_TOPICS, OFF_TOPIC_AGENTS, add_turn, build_state
from agents.types import Answer, Outcome, RowSource, Source
from agents.understanding.state import NOTHING_SAID, DialogueState, Topic, Turn
from agents.understanding.utterance import Utterance

EMPTY = DialogueState()


def source(document: str, heading: str = "") -> Source:
    return Source(1, document, document, heading, None, "", 0.9)


def answer(
    *sources: Source | RowSource, agent: str = "knowledge", outcome: Outcome = Outcome.ANSWERED, offers: str = ""
) -> Answer:
    return Answer("答复", outcome, agent, agent, sources=sources, suggestions=(offers,) if offers else ())


def test_a_turn_that_was_about_something_is_carried_on() -> None:
    state = add_turn(EMPTY, "怎么退货", answer(source("退货", "流程"), source("退货", "运费"), offers="退款多久到账"))
    assert state.questions == ("怎么退货",)
    assert state.topics == (Topic("退货", ("退货",), (("退货", "流程"), ("退货", "运费"))),)
    assert (state.agent, state.outcome, state.offered) == ("knowledge", "answered", ("退款多久到账",))


def test_the_fold_is_pure() -> None:
    before = add_turn(EMPTY, "怎么退货", answer(source("退货")))
    kept = before.to_json()
    assert add_turn(before, "运费呢", answer(source("运费"))) == add_turn(before, "运费呢", answer(source("运费")))
    assert before.to_json() == kept and EMPTY == NOTHING_SAID == DialogueState()


@pytest.mark.parametrize("agent", sorted(OFF_TOPIC_AGENTS))
def test_small_talk_leaves_the_conversation_where_it_was(agent: str) -> None:
    before = add_turn(EMPTY, "怎么退货", answer(source("退货")))
    assert add_turn(before, "谢谢", answer(agent=agent), "M1") == before


def test_an_answer_without_documents_leaves_the_topic() -> None:
    before = add_turn(EMPTY, "怎么退货", answer(source("退货")))
    rows = add_turn(before, "我的订单呢", answer(RowSource("orders", "1", {}), agent="business"), "M1")
    unknown = add_turn(before, "那呢", answer(outcome=Outcome.NO_EVIDENCE))
    assert rows.topics == unknown.topics == before.topics
    assert (rows.agent, unknown.outcome) == ("business", "no_evidence")


def test_the_page_is_no_document() -> None:
    assert add_turn(EMPTY, "这个多少钱", answer(source(""))).topics == ()


def test_only_the_last_turns_are_carried_on_and_of_a_story_its_end() -> None:
    state = EMPTY
    for number in range(9):
        state = add_turn(state, f"问{number}", answer(source(f"文{number}")))
    state = add_turn(state, "前" * 500 + "怎么办", answer(source("末")))
    assert (len(state.questions), len(state.topics)) == (MAX_QUESTIONS, MAX_TOPICS)
    assert state.questions[-2] == "问8" and state.topics[-1].documents == ("末",)
    assert len(state.questions[-1]) == MAX_QUESTION_CHARS and state.questions[-1].endswith("怎么办")


def test_the_search_is_told_the_last_place_and_those_before_it() -> None:
    before = add_turn(EMPTY, "怎么退货", answer(source("退货", "流程")))
    state = add_turn(before, "保修呢", answer(source("保修", "期限")))
    context = state.context
    assert context.questions == ("怎么退货", "保修呢")
    assert context.documents == frozenset({"保修"}) and context.sections == frozenset({("保修", "期限")})
    assert context.earlier == frozenset({"退货"})


def test_where_nothing_was_said_there_is_no_context() -> None:
    assert not EMPTY and not EMPTY.context
    assert add_turn(EMPTY, "怎么退货", answer()) and add_turn(EMPTY, "怎么退货", answer()).context


@pytest.mark.parametrize(
    "state",
    [
        EMPTY,
        add_turn(EMPTY, "怎么退货", answer(source("退货", "流程"), source("运费"), offers="多久到账")),
        add_turn(EMPTY, "我的订单呢", answer(RowSource("orders", "1", {"id": "1"}), agent="business"), "M1"),
    ],
)
def test_a_kept_state_comes_back(state: DialogueState) -> None:
    assert DialogueState.from_json(json.loads(json.dumps(state.to_json(), ensure_ascii=False))) == state


def test_a_turn_that_was_kept_without_one_has_an_empty_state() -> None:
    assert DialogueState.from_json({}) == EMPTY


def test_rows_are_not_kept() -> None:
    state = add_turn(EMPTY, "我的订单呢", answer(RowSource("orders", "YD1", {"total": "899"}), agent="business"), "M1")
    assert "899" not in repr(state) and "YD1" not in repr(state)


def test_what_holds_a_members_data_stays_theirs_in_the_turns_after_it() -> None:
    state = add_turn(EMPTY, "订单 YD1 到哪了", answer(RowSource("orders", "YD1", {}), agent="business"), "M1")
    assert state.member == "M1"
    assert add_turn(state, "退货运费谁出", answer(source("退货"))).member == "M1"
    assert add_turn(EMPTY, "退货运费谁出", answer(source("退货"))).member == ""


def test_what_a_client_tells_gives_questions_alone() -> None:
    turns = [Turn(Utterance(f"问{number}" + "长" * 200), "答") for number in range(5)]
    state = build_state(turns)
    assert len(state.questions) == MAX_QUESTIONS and all(len(text) == MAX_QUESTION_CHARS for text in state.questions)
    assert state.topics == () and build_state([]) == EMPTY
