from __future__ import annotations

import pytest

from agents.types import Answer, Outcome
from agents.verifier import build_partial_ending
from agents.wording.catalogue import say
from app.desk.assist import extract_draft


@pytest.mark.parametrize("english", [False, True])
def test_a_draft_holds_nothing_that_the_bot_says_of_itself(english: bool) -> None:
    reply = "\n".join((say("disclaimer", english), "退款三天内到账。[1]", say("part_not_found", english)))
    answer = Answer(reply + build_partial_ending({}, (), english), Outcome.LOW_CONFIDENCE, "knowledge_qa", "knowledge")
    assert extract_draft(answer) == "退款三天内到账。[1]"


def test_of_what_is_no_answer_there_is_no_draft() -> None:
    answer = Answer(say("fallback", False), Outcome.NO_EVIDENCE, "knowledge_qa", "knowledge")
    assert extract_draft(answer) == ""
