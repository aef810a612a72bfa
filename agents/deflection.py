"""What is said to messages that nothing here can answer: no search, no model."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.aside import aside
from agents.base import said
from agents.bids import Bid, TurnEvidence
from agents.language import in_english
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.types import Answer, AnswerEvent, Outcome, Question
from agents.wording.catalogue import say

_OUTCOMES = {
    Intent.NONSENSE: Outcome.NONSENSE,
    Intent.IRRELEVANT: Outcome.IRRELEVANT,
    Intent.OUT_OF_SCOPE: Outcome.OUT_OF_SCOPE,
}
"""Intents that are keys of the catalogue too."""
MAX_SUGGESTIONS = 3


class DeflectionAgent:
    """Answers for one intent: a polite line, topics that can be asked about, for out_of_scope the offer of a person."""

    name = "deflection"

    def __init__(self, intent: Intent, profile: TenantProfile) -> None:
        """Raises KeyError for an intent that is not to be deflected."""
        self._intent = intent
        self._outcome = _OUTCOMES[intent]
        self._profile = profile

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        return aside(turn, self._intent)

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        english = in_english(question, self._profile)
        topics = self._profile.suggested_questions[:MAX_SUGGESTIONS]
        reply = say(self._intent, english, seed=question.text, name=self._profile.called(english))
        if topics:
            reply += f"\n{say('topics', english)}" + "".join(f"\n- {topic}" for topic in topics)
        return said(
            Answer(
                reply=reply,
                outcome=self._outcome,
                intent=self._intent,
                agent=self.name,
                suggestions=topics,
                escalate_to_human=self._intent is Intent.OUT_OF_SCOPE,
            )
        )
