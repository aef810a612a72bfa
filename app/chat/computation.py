"""Answers that no cache holds: one computation each, in a place of its own, for as long as anybody follows it."""

from __future__ import annotations

from agents.base import Emit
from agents.language import is_reply_english
from agents.profile import TenantProfile
from agents.types import Answer, Question
from agents.wording.catalogue import say
from app.chat.answer_pipeline import AnswerPipeline
from app.errors import QueueTimeout
from app.limits.slots import TurnSlots
from app.limits.types import LimitKind
from app.limits.urgent import PATIENCE_SECONDS, UrgentReplies
from app.metrics import Metrics
from app.turns.types import Message


class ComputationPool:
    """A message that waits for a place too long is told so, but for an urgent one, which rules answer."""

    def __init__(self, answering: AnswerPipeline, slots: TurnSlots, urgent: UrgentReplies, metrics: Metrics) -> None:
        self._answering = answering
        self._slots = slots
        self._urgent = urgent
        self._metrics = metrics

    async def run(self, message: Message, question: Question, emit: Emit) -> Answer:
        """See `Agent.run`. Raises QueueTimeout besides."""
        urgent = False

        def get_patience() -> float:
            nonlocal urgent
            urgent = self._urgent.is_urgent(question.utterance.original)
            return PATIENCE_SECONDS if urgent else self._slots.seconds

        sender = message.sender.key, message.sender.address
        try:
            async with self._slots.open_slot(message.tenant, sender, get_patience):
                return await self._answering.run(message.tenant, question, emit)
        except QueueTimeout as error:
            if not urgent:
                self._metrics.add_limited(message.tenant, LimitKind.QUEUE_TIMEOUT)
                error.message = say("too_busy", is_reply_english(question, TenantProfile()))
                raise
        return await self._urgent.run(question, emit)
