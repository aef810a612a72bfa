"""The interface of an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from agents.bids import Bid
from agents.turn_evidence import TurnEvidence
from agents.types import Answer, AnswerEvent, Done, Findings, Meta, Question, Token


class Speaker(Protocol):
    """Answers questions. Speakers hold no state of a conversation and serve many at once."""

    name: str

    def run(self, question: Question, findings: Findings) -> AsyncGenerator[AnswerEvent]:
        """Yields Meta, Evidence when it searched, Tokens (perhaps a Replace), then exactly one Done.

        Raises AgentError or KnowledgeError on an outage: an outage is never an answer.
        """


class Agent(Speaker, Protocol):
    """One of the roster: bids for turns, and answers those that it is chosen for."""

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """How likely the turn is this agent's, and why; None where nothing speaks for it. Pure and quick."""


async def stream_answer(answer: Answer) -> AsyncGenerator[AnswerEvent]:
    """Yields the events of an answer that is complete already."""
    yield Meta(answer.agent, answer.intent)
    yield Token(answer.reply)
    yield Done(answer)


def get_final_answer(events: Sequence[AnswerEvent]) -> Answer:
    """Returns the answer that ends the events of a run."""
    return next(event.answer for event in reversed(events) if isinstance(event, Done))
