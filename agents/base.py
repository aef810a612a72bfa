"""What every agent is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from agents.types import AnswerEvent, Question


class Agent(Protocol):
    """Answers the questions that it accepts. Agents hold no state of a conversation and serve many at once."""

    name: str

    def accepts(self, question: Question) -> bool:
        """Whether this agent is the right one; cheap, without a model."""

    def run(self, question: Question) -> AsyncIterator[AnswerEvent]:
        """Yields Meta, Evidence when it searched, Tokens (perhaps a Replace), then exactly one Done.

        Raises AgentError or KnowledgeError on an outage: an outage is never an answer.
        """
