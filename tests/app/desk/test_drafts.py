from __future__ import annotations

import pytest

from agents.types import Answer, Outcome
from agents.verifier import build_partial_ending
from agents.wording.catalogue import say
from app.conversations.types import TurnRow
from app.db.base import now
from app.desk.assist import build_last_question, extract_draft


@pytest.mark.parametrize("english", [False, True])
def test_a_draft_holds_nothing_that_the_bot_says_of_itself(english: bool) -> None:
    reply = "\n".join((say("disclaimer", english), "退款三天内到账。[1]", say("part_not_found", english)))
    answer = Answer(reply + build_partial_ending({}, (), english), Outcome.LOW_CONFIDENCE, "knowledge_qa", "knowledge")
    assert extract_draft(answer) == "退款三天内到账。[1]"


def test_of_what_is_no_answer_there_is_no_draft() -> None:
    answer = Answer(say("fallback", False), Outcome.NO_EVIDENCE, "knowledge_qa", "knowledge")
    assert extract_draft(answer) == ""


def test_what_was_asked_before_the_person_was_asked_for_is_the_topic() -> None:
    said = ("净水器的滤芯多久换一次", "knowledge_qa"), ("转人工", "human_request"), ("那它多少钱", "human_handoff")
    turns = [
        TurnRow(str(place), text, text, "好的", "handoff", {"data": {"intent": intent, "suggestions": []}}, now())
        for place, (text, intent) in enumerate(said)
    ]
    question = build_last_question(turns, "", rows_to_model=True)
    assert [turn.utterance.original for turn in question.history] == ["净水器的滤芯多久换一次"]
    assert "净水器" in question.utterance.complete_text and "转人工" not in question.utterance.complete_text
