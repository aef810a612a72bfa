from __future__ import annotations

import pytest

from agents.base import Agent
from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.registry import AGENTS, AgentParts, Roster
from agents.routing.types import Intent
from agents.types import CuratedEntry, CuratedMatch, Done, Evidence, Findings, MatchStage, Meta, Replace, Settled, Token
from tests.agents.business.shop import business_parts
from tests.agents.support import ANALYZER, FixedSearcher, ask, candidate, collect_events
from tests.agents.tickets import MemoryTickets

QUESTION = "退款多久到账"
CURATED = CuratedMatch(
    CuratedEntry("f1", "退款 5 天到账。", (QUESTION,), ()), QUESTION, MatchStage.EXACT, 0.99, revision=1
)
# The agent of curated answers answers with nothing else.
FOUND = Findings(curated=CURATED)


def build(intent: str) -> Agent:
    searcher = FixedSearcher(candidate("退款 5 天到账。"))
    policy = KnowledgePolicy(0.75, TenantProfile())
    generator = ExtractiveGenerator(ANALYZER, 3)
    parts = AgentParts(searcher, generator, policy, business_parts(), tickets=MemoryTickets())
    return Roster.from_parts(parts).list_agents([intent])[0]


def agent_name(intent: str) -> str:
    """Who answers an intent."""
    return build(intent).name


def test_every_intent_has_an_agent() -> None:
    assert set(AGENTS) >= set(Intent)


@pytest.mark.parametrize("intent", AGENTS)
async def test_a_run_is_meta_then_tokens_then_one_done(intent: Intent) -> None:
    events = await collect_events(build(intent), ask(QUESTION), FOUND)
    assert isinstance(events[0], Meta) and isinstance(events[-1], Done)
    assert all(isinstance(event, Evidence | Token | Replace | Settled) for event in events[1:-1])
    answer = events[-1].answer
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer.reply
    assert (events[0].agent, events[0].intent) == (answer.agent, answer.intent)


@pytest.mark.parametrize("intent", AGENTS)
async def test_confidence_is_zero_without_a_fragment(intent: Intent) -> None:
    answer = (await collect_events(build(intent), ask(QUESTION), FOUND))[-1]
    assert isinstance(answer, Done)
    assert (answer.answer.confidence > 0) == (answer.answer.agent in ("knowledge", "curated"))
