from __future__ import annotations

import pytest

from agents.types import Answer, HandoffReason, HandoffRequest, Outcome, Proposal, Question, Source
from agents.understanding.utterance import Utterance
from app.conversations.types import TurnRow
from app.db.base import now
from app.desk.card import build_card
from app.desk.triggers import get_priority, get_request, has_failed_twice, is_helpless


def answer(outcome: Outcome, agent: str = "knowledge", proposal: Proposal | None = None) -> Answer:
    return Answer("答", outcome, "knowledge_qa", agent, proposal=proposal)


@pytest.mark.parametrize(
    ("before", "now_", "offered"),
    [
        (Outcome.NO_EVIDENCE, Outcome.NO_EVIDENCE, True),
        (Outcome.CANNOT_ANSWER, Outcome.NO_EVIDENCE, True),
        (Outcome.NO_EVIDENCE, Outcome.CLARIFY, True),
        (Outcome.CLARIFY, Outcome.CLARIFY, True),
        (Outcome.CLARIFY, Outcome.NO_EVIDENCE, False),
        (Outcome.ANSWERED, Outcome.CLARIFY, False),
        (Outcome.LOW_CONFIDENCE, Outcome.LOW_CONFIDENCE, False),
        (Outcome.LOW_CONFIDENCE, Outcome.NO_EVIDENCE, False),
        (Outcome.NO_EVIDENCE, Outcome.LOW_CONFIDENCE, False),
        (Outcome.ANSWERED, Outcome.NO_EVIDENCE, False),
        (Outcome.NO_EVIDENCE, Outcome.ANSWERED, False),
        (Outcome.IRRELEVANT, Outcome.IRRELEVANT, False),
    ],
)
def test_two_turns_in_a_row_that_did_not_help(before: Outcome, now_: Outcome, offered: bool) -> None:
    assert has_failed_twice(answer(now_), before.value, "knowledge") is offered


def test_a_question_back_that_leads_somewhere_is_no_failure() -> None:
    proposed = answer(Outcome.CLARIFY, proposal=Proposal("ticket", {}, 0.0))
    assert not is_helpless(proposed) and not is_helpless(answer(Outcome.CLARIFY, "ticket"))
    assert not has_failed_twice(answer(Outcome.CLARIFY), "clarify", "ticket")


def test_what_an_agent_asks_for_goes_first_and_some_outcomes_ask_by_themselves() -> None:
    angry = HandoffRequest(HandoffReason.EMOTION, 3, 0.9)
    assert get_request(Answer("答", Outcome.ANSWERED, "i", "a", handoff=angry)) is angry
    assert (
        get_priority(angry)
        == 3
        > get_priority(HandoffRequest(HandoffReason.HIGH_STAKES))
        > get_priority(HandoffRequest(HandoffReason.ASKED))
    )
    wish = get_request(answer(Outcome.HANDOFF))
    assert wish is not None and wish.reason is HandoffReason.ASKED
    assert get_request(answer(Outcome.ANSWERED)) is None


def row(number: int, question: str, agent: str = "knowledge", **source: str) -> TurnRow:
    sources = [source] if source else []
    body = {"data": {"agent": agent, "sources": sources}}
    return TurnRow(str(number), question, question, f"回复{number}", "answered", body, now())


def test_a_card_tells_what_was_asked_and_tried_without_personal_data() -> None:
    before = [
        row(1, "我的手机号是13800138000，退货运费谁出", title="退货运费说明"),
        row(2, "谢谢", "chitchat"),
    ]
    question = Question(Utterance("转人工，订单号 20260301123456"))
    made = build_card(
        question, answer(Outcome.HANDOFF, "escalation"), HandoffRequest(HandoffReason.ASKED, emotion=0.42), before, 0
    )
    text = str(made)
    assert "13800138000" not in text and "20260301123456" not in text
    assert made["tried"][0]["sources"] == ["退货运费说明"]
    assert {"kind": "phone", "value": "****8000"} in made["entities"]
    assert {"kind": "order_number", "value": "****3456"} in made["entities"]
    assert "退货运费谁出" in made["question"] and "退货运费谁出" in made["summary"]
    assert (made["reason"], made["emotion"], made["priority"]) == ("asked", 0.42, 0)


def test_the_card_of_a_complaint_names_what_it_is_about() -> None:
    source = Source(1, "d", "保修期", "", None, "片段", 0.7)
    low = Answer("可能是一年", Outcome.LOW_CONFIDENCE, "knowledge_qa", "knowledge", sources=(source,))
    request = HandoffRequest(HandoffReason.HIGH_STAKES)
    made = build_card(Question(Utterance("耳机保修多久"), summary="问过发票"), low, request, [], 0)
    assert made["question"] == "耳机保修多久" and made["sources"] == ["保修期"] and "问过发票" in made["summary"]
