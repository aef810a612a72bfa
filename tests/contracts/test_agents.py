from __future__ import annotations

import pytest

from agents.base import Agent
from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.registry import AGENTS, AgentParts
from agents.types import Done, Evidence, Meta, Replace, Settled, Token
from tests.agents.support import ANALYZER, FixedSearcher, ask, candidate

EXAMPLES = {"chitchat": "你好", "escalation": "转人工", "knowledge": "退款多久到账"}
"""A question that the agent takes."""


def build(name: str) -> Agent:
    searcher = FixedSearcher(candidate("退款 5 天到账。"))
    policy = KnowledgePolicy(0.75, TenantProfile())
    return AGENTS[name](AgentParts(searcher, ExtractiveGenerator(ANALYZER.tokens, 3), policy))


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_registered_under_its_name_and_takes_its_example(name: str) -> None:
    assert build(name).name == name
    assert build(name).accepts(ask(EXAMPLES[name]))


@pytest.mark.parametrize("name", AGENTS)
async def test_a_run_is_meta_then_tokens_then_one_done(name: str) -> None:
    events = [event async for event in build(name).run(ask(EXAMPLES[name]))]
    assert isinstance(events[0], Meta) and isinstance(events[-1], Done)
    assert all(isinstance(event, Evidence | Token | Replace | Settled) for event in events[1:-1])
    answer = events[-1].answer
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer.reply
    assert (events[0].agent, events[0].intent) == (answer.agent, answer.intent) == (name, answer.intent)


@pytest.mark.parametrize("name", AGENTS)
async def test_confidence_is_zero_without_a_fragment(name: str) -> None:
    answer = [event async for event in build(name).run(ask(EXAMPLES[name]))][-1]
    assert isinstance(answer, Done)
    assert (answer.answer.confidence > 0) == (name == "knowledge")
