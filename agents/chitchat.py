"""Small talk, each kind a key of the catalogue: a greeting gets a greeting, not the fallback script."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.aside import aside
from agents.base import said
from agents.bids import Bid, TurnEvidence
from agents.language import in_english
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.types import Answer, AnswerEvent, Outcome, Question
from agents.understanding.acts import SMALL_TALK, Act
from agents.wording.catalogue import say

_OPEN = frozenset({"greeting", "identity", "chitchat", "nonsense"})
"""Kinds after which the customer is shown what can be asked."""


class ChitchatAgent:
    """Answers any message that is sent here."""

    name = "chitchat"

    def __init__(self, profile: TenantProfile) -> None:
        self._profile = profile

    def bid(self, turn: TurnEvidence) -> Bid | None:
        """See `Agent.bid`."""
        return aside(turn, Intent.CHITCHAT)

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        act = question.reading.act
        intent = act.value if act in SMALL_TALK or act is Act.NOISE else "chitchat"
        profile = self._profile
        english = in_english(question, profile)
        reply = say(intent, english, seed=question.text, name=profile.called(english))
        if intent == "greeting" and profile.welcome_message:
            reply = profile.welcome_message
        return said(
            Answer(
                reply=reply,
                outcome=Outcome.NONSENSE if intent == "nonsense" else Outcome.ANSWERED,
                intent=intent,
                agent=self.name,
                suggestions=profile.suggested_questions if intent in _OPEN else (),
            )
        )
