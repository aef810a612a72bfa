"""Requests for a person."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.base import said
from agents.care import CarePolicy, felt, requested
from agents.language import in_english
from agents.profile import TenantProfile
from agents.types import Answer, AnswerEvent, HandoffReason, Outcome, Question
from agents.wording.catalogue import say


class EscalationAgent:
    """Asks for a person; whether one is there, and when, is told by whoever keeps the queue.

    profile: only its language.
    """

    name = "escalation"

    def __init__(self, policy: CarePolicy, profile: TenantProfile | None = None) -> None:
        self._policy = policy
        self._profile = profile or TenantProfile()

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        return said(
            Answer(
                reply=say("person_called", in_english(question, self._profile)),
                outcome=Outcome.HANDOFF,
                intent="human_handoff",
                agent=self.name,
                handoff=requested(felt(question, self._policy.head), self._policy.threshold, HandoffReason.ASKED),
                escalate_to_human=True,
                degraded=question.degraded,
                usage=question.usage,
            )
        )
