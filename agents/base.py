"""The interface of an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from agents.bids import Bid
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, AnswerEvent, Findings, Meta, Question, Token

# Takes what is told of an answer while it is being written.
Emit = Callable[[AnswerEvent], None]


class Speaker(Protocol):
    """Answers questions. Speakers hold no state of a conversation and serve many at once."""

    name: str

    async def run(self, question: Question, findings: Findings, emit: Emit) -> Answer:
        """Emits Meta, Evidence when it searched, and Tokens (perhaps a Replace), which together are the reply of the
        answer that it returns.

        Raises AgentError or KnowledgeError on an outage: an outage is never an answer.
        """


class Agent(Speaker, Protocol):
    """One of the roster: bids for turns, and answers those that it is chosen for."""

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """How likely the turn is this agent's, and why; None where nothing speaks for it. Pure and quick."""


def emit_answer(answer: Answer, emit: Emit) -> Answer:
    """Emits an answer that is complete already, and returns it."""
    emit(Meta(answer.agent, answer.intent))
    emit(Token(answer.reply))
    return answer
