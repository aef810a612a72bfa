from __future__ import annotations

import pytest

from agents.chitchat import ChitchatAgent, DeflectionAgent
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.types import NOTHING_FOUND, Outcome
from tests.agents.support import ask, collect_events, finish

PROFILE = TenantProfile(name="小应", suggested_questions=("怎么退货", "运费谁出", "发票怎么开", "怎么换货"))


@pytest.mark.parametrize(
    ("intent", "outcome", "person"),
    [
        (Intent.NONSENSE, Outcome.NONSENSE, False),
        (Intent.IRRELEVANT, Outcome.IRRELEVANT, False),
        (Intent.OUT_OF_SCOPE, Outcome.OUT_OF_SCOPE, True),
    ],
)
async def test_each_outcome_has_its_own_reply_with_topics(intent: Intent, outcome: Outcome, person: bool) -> None:
    agent = DeflectionAgent(intent, PROFILE)
    answer = await finish(await collect_events(agent, ask("今天下雨吗"), NOTHING_FOUND))
    assert (answer.outcome, answer.intent, answer.escalate_to_human) == (outcome, intent, person)
    assert answer.suggestions == PROFILE.suggested_questions[:3]
    assert "- 怎么退货" in answer.reply and "怎么换货" not in answer.reply
    assert "{name}" not in answer.reply


async def test_without_topics_none_are_promised() -> None:
    agent = DeflectionAgent(Intent.IRRELEVANT, TenantProfile())
    answer = await finish(await collect_events(agent, ask("今天下雨吗"), NOTHING_FOUND))
    assert "试试" not in answer.reply and answer.suggestions == ()


def test_an_intent_that_has_an_agent_is_not_deflected() -> None:
    with pytest.raises(KeyError):
        DeflectionAgent(Intent.KNOWLEDGE_QA, PROFILE)


async def test_small_talk_that_no_rule_knows_gets_a_short_human_line() -> None:
    agent = ChitchatAgent(PROFILE)
    answer = await finish(await collect_events(agent, ask("你喜欢吃火锅吗"), NOTHING_FOUND))
    assert (answer.outcome, answer.intent) == (Outcome.ANSWERED, "chitchat")
    assert len(answer.reply) < 60 and answer.suggestions == PROFILE.suggested_questions


@pytest.mark.parametrize(
    ("text", "intent"),
    [("Thank you so much!", "thanks"), ("Hello there", "greeting"), ("Who are you?", "identity"), ("bye", "goodbye")],
)
async def test_small_talk_in_english_is_known_too(text: str, intent: str) -> None:
    answer = await finish(await collect_events(ChitchatAgent(PROFILE), ask(text), NOTHING_FOUND))
    assert (answer.outcome, answer.intent) == (Outcome.ANSWERED, intent)
