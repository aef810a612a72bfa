"""The roster: agents in the order in which they are offered a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.base import Agent
from agents.chitchat import ChitchatAgent
from agents.escalation import EscalationAgent
from agents.knowledge import KnowledgeAgent, KnowledgePolicy, Searcher
from agents.llm.base import Generator
from agents.types import Question


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What the agents of one tenant are built from."""

    searcher: Searcher
    generator: Generator
    policy: KnowledgePolicy


AGENTS: dict[str, Callable[[AgentParts], Agent]] = {
    EscalationAgent.name: lambda parts: EscalationAgent(),
    ChitchatAgent.name: lambda parts: ChitchatAgent(parts.policy.profile),
    KnowledgeAgent.name: lambda parts: KnowledgeAgent(parts.searcher, parts.generator, parts.policy),
}


class Roster:
    """The agents of one tenant."""

    def __init__(self, agents: Sequence[Agent]) -> None:
        self._agents = tuple(agents)

    @classmethod
    def of(cls, parts: AgentParts) -> Roster:
        return cls([build(parts) for build in AGENTS.values()])

    def choose(self, question: Question) -> Agent:
        """The first agent that accepts; the last one of `AGENTS` accepts everything."""
        return next(agent for agent in self._agents if agent.accepts(question))
