"""What is said to messages that nothing here can answer: no search, no model."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from agents.base import said
from agents.profile import TenantProfile
from agents.routing.types import Intent
from agents.types import Answer, AnswerEvent, Outcome, Question

_REPLIES = {
    Intent.NONSENSE: (Outcome.NONSENSE, "抱歉，我没有看懂您的意思，可以用一句话说说您想问什么吗？"),
    Intent.IRRELEVANT: (Outcome.IRRELEVANT, "这个话题我帮不上忙，我是{name}，主要解答与我们的商品和服务有关的问题。"),
    Intent.OUT_OF_SCOPE: (
        Outcome.OUT_OF_SCOPE,
        "抱歉，这件事不在我们的服务范围内，我不便给出意见，以免误导您。如果它与我们的服务有关，可以为您转接人工客服。",
    ),
}
_TOPICS = "您可以试试问我："
MAX_SUGGESTIONS = 3


class DeflectionAgent:
    """Answers for one intent: a polite line, topics that can be asked about, for out_of_scope the offer of a person."""

    name = "deflection"

    def __init__(self, intent: Intent, profile: TenantProfile) -> None:
        """Raises KeyError for an intent that is not to be deflected."""
        self._intent = intent
        self._outcome, self._reply = _REPLIES[intent]
        self._profile = profile

    def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        topics = self._profile.suggested_questions[:MAX_SUGGESTIONS]
        reply = self._reply.replace("{name}", self._profile.name)
        if topics:
            reply += "\n" + _TOPICS + "".join(f"\n- {topic}" for topic in topics)
        return said(
            Answer(
                reply=reply,
                outcome=self._outcome,
                intent=self._intent,
                agent=self.name,
                suggestions=topics,
                escalate_to_human=self._intent is Intent.OUT_OF_SCOPE,
                degraded=question.degraded,
                usage=question.usage,
            )
        )
