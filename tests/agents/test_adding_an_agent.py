"""Another agent is its module, its examples and one line of the registry."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.base import said
from agents.bids import Bid, Rank, TurnEvidence
from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.registry import AGENTS, AgentParts, Roster
from agents.router import Router, RouterParts
from agents.routing.anchors import read_anchors
from agents.routing.head import fit_head
from agents.types import Answer, AnswerEvent, Outcome, Question
from knowledge.embeddings.hash import HashEmbedder
from tests.agents.routing import ANCHORS
from tests.agents.support import ANALYZER, FixedSearcher, finish

BOOKING = """
intent: booking
examples: [帮我约周六上门安装, 预约明天下午上门, 我想约个时间上门, 约师傅周日来装, 能约后天上午上门吗]
not:
  knowledge_qa: [上门安装要提前多久预约]
"""


class BookingAgent:
    """Takes appointments."""

    name = "booking"

    def bid(self, turn: TurnEvidence) -> Bid | None:
        score = turn.score("booking")
        return Bid("booking", 0.5 + score / 2, "wants an appointment", Rank.CLAIMS) if score > 0 else None

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        return said(Answer("请选一个时间。", Outcome.ANSWERED, "booking", self.name))


async def served(text: str) -> tuple[tuple[str, ...], Answer]:
    """Who serves a message, and the answer."""
    embedder = HashEmbedder()
    head = await fit_head(embedder, ANCHORS.extended(read_anchors([BOOKING]).sentences))
    generator, policy = ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(0.75, TenantProfile())
    roster = Roster.of(AgentParts(FixedSearcher(), generator, policy), {**AGENTS, "booking": lambda _: BookingAgent()})
    question = Question(text, vector=await embedder.query(text))
    route = await Router(RouterParts(head)).route(question)
    decision = roster.decide(roster.evidence(question, route))
    return decision.intents, await finish([event async for event in roster.run(question, decision.intents)])


async def test_an_agent_of_ones_own_serves_what_its_examples_are_like() -> None:
    intents, answer = await served("能约个时间上门吗")
    assert "booking" in intents and "请选一个时间" in answer.reply


async def test_the_others_serve_what_they_served_before() -> None:
    intents, answer = await served("保修期多久")
    assert intents == ("knowledge_qa",) and answer.outcome is Outcome.NO_EVIDENCE
