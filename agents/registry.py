"""The roster: which agent serves which intent, and how several of them answer at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agents.base import Agent, Emit, Speaker
from agents.care import CareAgent, CarePolicy, detect_danger, measure_emotion, measure_outcry
from agents.chitchat import ChitchatAgent, DeflectionAgent
from agents.curated.agent import CURATED, CuratedAgent
from agents.decision import Decision, decide
from agents.escalation import EscalationAgent
from agents.generator import Generator
from agents.joint_answer import FallbackSpeaker, run_together
from agents.knowledge import KnowledgeAgent, KnowledgePolicy
from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.question_search import Searcher
from agents.routing.types import Intent, Route
from agents.ticket import TicketAgent
from agents.ticketing.types import Tickets
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, Findings, Question
from agents.verifier import Verifier
from knowledge.text import fold

if TYPE_CHECKING:
    from agents.business.agent import BusinessAgent, BusinessParts


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What the agents of one tenant are built from.

    `business` is None without a business database; without `tickets` questions about tickets are looked up.
    """

    searcher: Searcher
    generator: Generator
    policy: KnowledgePolicy
    business: BusinessParts | None = None
    care: CarePolicy = field(default_factory=CarePolicy)
    tickets: Tickets | None = None
    verifier: Verifier | None = None


Build = Callable[[AgentParts], Agent]


def _build_ticket_agent(parts: AgentParts) -> TicketAgent:
    assert parts.tickets is not None
    return TicketAgent(parts.tickets, parts.policy.profile)


def _build_knowledge_agent(parts: AgentParts) -> KnowledgeAgent:
    return KnowledgeAgent(parts.searcher, parts.generator, parts.policy, parts.verifier)


def _build_business_agent(parts: AgentParts) -> BusinessAgent:
    from agents.business.agent import BusinessAgent

    assert parts.business is not None
    tickets = _build_ticket_agent(parts) if parts.tickets is not None else None
    return BusinessAgent(parts.business, parts.policy.profile, tickets)


# Intent -> how its agent is built; intents with the same function share one agent.
AGENTS: Mapping[str, Build] = {
    Intent.HUMAN_REQUEST: lambda parts: EscalationAgent(parts.care, parts.policy.profile),
    Intent.HIGH_STAKES: lambda parts: CareAgent(parts.care, profile=parts.policy.profile),
    CURATED: lambda parts: CuratedAgent(parts.policy.profile),
    Intent.TICKET: _build_ticket_agent,
    Intent.BUSINESS_QUERY: _build_business_agent,
    Intent.KNOWLEDGE_QA: _build_knowledge_agent,
    Intent.CHITCHAT: lambda parts: ChitchatAgent(parts.policy.profile),
    Intent.IRRELEVANT: lambda parts: DeflectionAgent(Intent.IRRELEVANT, parts.policy.profile),
    Intent.OUT_OF_SCOPE: lambda parts: DeflectionAgent(Intent.OUT_OF_SCOPE, parts.policy.profile),
    Intent.NONSENSE: lambda parts: DeflectionAgent(Intent.NONSENSE, parts.policy.profile),
}


class Roster:
    """The agents of one tenant."""

    def __init__(
        self, agents: Mapping[str, Agent], care: CarePolicy | None = None, profile: TenantProfile | None = None
    ) -> None:
        """agents: one for every intent, the same one may serve several; profile: only its language is used."""
        self._agents = dict(agents)
        self._care = care or CarePolicy()
        self._profile = profile or TenantProfile()

    @classmethod
    def from_parts(cls, parts: AgentParts) -> Roster:
        """Builds the agents. Intents whose agent has no database or tickets are served by the knowledge agent."""
        present = {_build_business_agent: parts.business, _build_ticket_agent: parts.tickets}
        absent = {build for build, needed in present.items() if needed is None}
        builds = {intent: _build_knowledge_agent if build in absent else build for intent, build in AGENTS.items()}
        built = {build: build(parts) for build in builds.values()}
        return cls({intent: built[build] for intent, build in builds.items()}, parts.care, parts.policy.profile)

    def decide(self, turn: TurnEvidence) -> Decision:
        """Chooses the intents whose agents serve the turn."""
        return decide(agent.bid(turn) for agent in dict.fromkeys(self._agents.values()))

    def build_evidence(self, question: Question, findings: Findings, route: Route) -> TurnEvidence:
        """Collects what the agents bid on."""
        danger = detect_danger(question, findings, self._care)
        feeling, words = measure_emotion(question, findings, self._care.head, danger), measure_outcry(question)
        return TurnEvidence(question, findings, route, feeling, words.score, danger, self._care.threshold)

    def list_agents(self, intents: Sequence[str]) -> tuple[Agent, ...]:
        """Returns the agents of some intents, each once, in this order."""
        return tuple(dict.fromkeys(self._agents[intent] for intent in intents))

    async def run(self, question: Question, findings: Findings, intents: Sequence[str], emit: Emit) -> Answer:
        """See `Agent.run`; several agents give one answer. What rows do not answer is looked up in the
        knowledge base.
        """
        agents = self._add_lookup(self.list_agents(intents))
        if len(agents) > 1:
            answer = await run_together(agents, question, findings, emit, is_reply_english(question, self._profile))
        else:
            answer = await agents[0].run(question, findings, emit)
        return _remove_repetition(answer, question.utterance.original)

    def _add_lookup(self, agents: tuple[Agent, ...]) -> tuple[Speaker, ...]:
        """Returns the agents of a route, where rows that hold nothing are followed by the knowledge base."""
        knowledge, business = self._agents[Intent.KNOWLEDGE_QA], self._agents[Intent.BUSINESS_QUERY]
        if knowledge in agents:
            return agents
        return tuple(FallbackSpeaker(agent, knowledge) if agent is business else agent for agent in agents)


def _remove_repetition(answer: Answer, question: str) -> Answer:
    """Removes the question that was just asked from the suggestions."""
    folded = _normalize_text(question)
    return replace(answer, suggestions=tuple(one for one in answer.suggestions if _normalize_text(one) != folded))


def _normalize_text(text: str) -> str:
    return fold(text).strip(" ?？!！。.")
