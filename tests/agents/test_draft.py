from __future__ import annotations

import pytest

from agents.draft import Draft
from agents.generator import Request, Text
from agents.wording.catalogue import say
from tests.agents.support import candidate

CHINESE = "退款在验货后 1～5 个工作日内到账。"
OWN = "Refunds take up to five working days after the inspection."


def opened(text: str, *, english: bool, confident: bool = True) -> list[str]:
    request = Request("how long does a refund take", (candidate(text, 0.9),), english=english)
    return Draft(request, confident=confident).add_piece(Text(text))


def test_what_is_quoted_in_chinese_for_an_english_question_says_so() -> None:
    assert opened(CHINESE, english=True) == [f"{say('quoted', True)}\n", CHINESE]


@pytest.mark.parametrize(("text", "english"), [(OWN, True), (CHINESE, False)])
def test_in_the_customers_own_language_nothing_is_said_before(text: str, english: bool) -> None:
    assert opened(text, english=english) == [text]


def test_an_answer_that_is_not_sure_has_its_disclaimer_alone() -> None:
    assert opened(CHINESE, english=True, confident=False) == [f"{say('disclaimer', True)}\n", CHINESE]
