"""Requests for a person."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.base import said
from agents.types import Answer, AnswerEvent, Outcome, Question

_REPLY = (
    "明白，您希望由人工客服处理。当前还没有接通在线转人工，暂时无法把会话直接转给客服人员，"
    "请通过商家公布的客服电话或其他官方渠道联系人工。您也可以把问题告诉我，我先帮您查资料。"
)


class EscalationAgent:
    """Answers requests for a person, and says honestly how far it can help."""

    name = "escalation"

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        return said(
            Answer(
                reply=_REPLY,
                outcome=Outcome.HANDOFF,
                intent="human_handoff",
                agent=self.name,
                escalate_to_human=True,
                degraded=question.degraded,
                usage=question.usage,
            )
        )
