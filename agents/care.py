"""High stakes: a customer who complains, disputes a bill or is about to leave is heard first, and offered a person."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.base import said
from agents.types import Answer, AnswerEvent, Outcome, Question

_REPLY = "非常抱歉给您带来不好的体验，您的问题我们很重视。建议由人工客服为您跟进处理，您可以直接说“转人工”。"


class CareAgent:
    """Acknowledges, promises nothing, and shows the way to a person."""

    name = "care"

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        return said(
            Answer(
                reply=_REPLY,
                outcome=Outcome.HIGH_STAKES,
                intent="high_stakes",
                agent=self.name,
                escalate_to_human=True,
                degraded=question.degraded,
                usage=question.usage,
            )
        )
