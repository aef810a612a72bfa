"""The roster: which agent answers which intent, and how several answer at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from agents.base import Agent
from agents.care import CareAgent
from agents.chitchat import ChitchatAgent
from agents.deflection import DeflectionAgent
from agents.escalation import EscalationAgent
from agents.knowledge import KnowledgeAgent, KnowledgePolicy, Searcher
from agents.llm.base import Generator
from agents.merging import run_together
from agents.routing.types import Band, Intent, Route
from agents.types import AnswerEvent, Question


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What the agents of one tenant are built from."""

    searcher: Searcher
    generator: Generator
    policy: KnowledgePolicy


Build = Callable[[AgentParts], Agent]


def _escalation(parts: AgentParts) -> Agent:
    return EscalationAgent()


def _care(parts: AgentParts) -> Agent:
    return CareAgent()


def _knowledge(parts: AgentParts) -> Agent:
    return KnowledgeAgent(parts.searcher, parts.generator, parts.policy)


def _chitchat(parts: AgentParts) -> Agent:
    return ChitchatAgent(parts.policy.profile)


def _deflection(intent: Intent, parts: AgentParts) -> Agent:
    return DeflectionAgent(intent, parts.policy.profile)


AGENTS: Mapping[Intent, Build] = {
    Intent.HUMAN_REQUEST: _escalation,
    Intent.HIGH_STAKES: _care,
    Intent.TICKET: _knowledge,
    Intent.BUSINESS_QUERY: _knowledge,
    Intent.KNOWLEDGE_QA: _knowledge,
    Intent.CHITCHAT: _chitchat,
    Intent.IRRELEVANT: partial(_deflection, Intent.IRRELEVANT),
    Intent.OUT_OF_SCOPE: partial(_deflection, Intent.OUT_OF_SCOPE),
    Intent.NONSENSE: partial(_deflection, Intent.NONSENSE),
}
_MAY_BE_KNOWN = frozenset({Intent.IRRELEVANT, Intent.OUT_OF_SCOPE})


class Roster:
    """The agents of one tenant."""

    def __init__(self, agents: Mapping[Intent, Agent]) -> None:
        """agents: one for every intent; the same one may answer several."""
        self._agents = dict(agents)

    @classmethod
    def of(cls, parts: AgentParts) -> Roster:
        built = {build: build(parts) for build in AGENTS.values()}
        return cls({intent: built[build] for intent, build in AGENTS.items()})

    def chosen(self, route: Route) -> tuple[Agent, ...]:
        """The agents of a route, the one to be heard first at the front.

        What is off-topic by weak evidence alone is looked up: the gate refuses it if nothing is there.
        """
        intents = route.intents
        if route.trace.band is Band.LOW and _MAY_BE_KNOWN.issuperset(intents):
            intents = (Intent.KNOWLEDGE_QA,)
        return tuple(dict.fromkeys(self._agents[intent] for intent in intents))

    async def run(self, question: Question, route: Route) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`; several agents give one answer."""
        agents = self.chosen(route)
        events = agents[0].run(question) if len(agents) == 1 else run_together(agents, question)
        async with aclosing(events):
            async for event in events:
                yield event
