"""The way of a message through the shipped roster, by what its words are like."""

from __future__ import annotations

from agents.knowledge import KnowledgePolicy
from agents.llm.extractive import ExtractiveGenerator
from agents.profile import TenantProfile
from agents.registry import AgentParts, Roster
from agents.router import Router, RouterParts
from agents.routing.anchors import load_shipped_anchors
from agents.routing.head import IntentHead, fit_head
from agents.types import Answer, Findings, Question
from agents.understanding.utterance import Utterance
from knowledge.embeddings.hash import HashEmbedder
from knowledge.types import QuestionVectors
from tests.agents.support import ANALYZER, FixedSearcher, collect_events, finish

# Fitted once a process, on all the examples there are.
_HEADS: list[IntentHead] = []


async def served(text: str) -> tuple[tuple[str, ...], Answer]:
    """Whose intents a message is, and the answer, where the knowledge base holds nothing."""
    embedder = HashEmbedder()
    if not _HEADS:
        _HEADS.append(await fit_head(embedder, load_shipped_anchors()))
    parts = AgentParts(FixedSearcher(), ExtractiveGenerator(ANALYZER, 3), KnowledgePolicy(0.75, TenantProfile()))
    roster, question = Roster.from_parts(parts), Question(Utterance(text))
    findings = Findings(QuestionVectors(await embedder.embed_question(text)))
    route = await Router(RouterParts(_HEADS[0])).route(question, findings.vectors.alone)
    decision = roster.decide(roster.build_evidence(question, findings, route))
    return decision.intents, await finish(await collect_events(roster, question, findings, decision.intents))
