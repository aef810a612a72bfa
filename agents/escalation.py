"""Requests for a person."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator

from agents.base import said
from agents.care import CarePolicy, felt, requested
from agents.types import Answer, AnswerEvent, HandoffReason, Outcome, Question

_REPLY = ("好的，马上为您联系人工客服。", "Sure, let me get a colleague for you.")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class EscalationAgent:
    """Asks for a person; whether one is there, and when, is told by whoever keeps the queue."""

    name = "escalation"

    def __init__(self, policy: CarePolicy) -> None:
        self._policy = policy

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        return said(
            Answer(
                reply=_REPLY[0 if _CHINESE.search(question.text) else 1],
                outcome=Outcome.HANDOFF,
                intent="human_handoff",
                agent=self.name,
                handoff=requested(felt(question, self._policy.head), self._policy.threshold, HandoffReason.ASKED),
                escalate_to_human=True,
                degraded=question.degraded,
                usage=question.usage,
            )
        )
