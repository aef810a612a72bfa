"""Makes a request for a person ready: card, ticket where nobody is there, and what the customer is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agents.types import Answer, HandoffReason, HandoffRequest, Question
from agents.understanding.tickets import Priority
from app.desk.card import TRIED, build_card
from app.desk.queue import Queue
from app.desk.queue_notices import build_queue_notice
from app.desk.triggers import get_priority
from app.desk.types import Actor, DeskSession, Event, Numbered, Opening, QueueState, State
from app.limits.service import RateLimits
from app.limits.types import NOBODY, Requester
from app.types import SessionKey

if TYPE_CHECKING:
    from app.conversations.repository import ConversationRepository
    from app.desk.partners import Opener


SUBJECT = "人工客服跟进"
"""Of the ticket that is made while nobody is there; one a conversation."""
ENTERED = "已转人工，正在等待客服接入。"
_URGENT = frozenset({HandoffReason.HIGH_STAKES, HandoffReason.EMOTION})


class TicketDesk(Protocol):
    """Where tickets are kept."""

    async def open(
        self, tenant: str, session_id: str, user_id: str, subject: str, description: str, priority: Priority
    ) -> Numbered:
        """The ticket; the one that is there, if its conversation has one of this subject that is not done."""

    def opener(
        self, tenant: str, session_id: str, user_id: str, subject: str, description: str, priority: Priority
    ) -> Opener:
        """As `open`, within a transaction."""


class Openings:
    """Reads only, but for the ticket; the request is written with the turn that made it. answering: see `silent`."""

    def __init__(
        self,
        queue: Queue,
        conversations: ConversationRepository,
        tickets: TicketDesk,
        limits: RateLimits,
        *,
        answering: bool = True,
    ) -> None:
        self._answering = answering
        self._limits = limits
        self._queue = queue
        self._conversations = conversations
        self._tickets = tickets

    async def prepare(
        self,
        key: SessionKey,
        request: HandoffRequest,
        question: Question,
        answer: Answer | None,
        *,
        actor: Actor = Actor.BOT,
        skill: str = "",
        started: bool = True,
        sender: Requester = NOBODY,
    ) -> tuple[Opening, QueueState, str]:
        """The request, where it puts the session, and the notice for the customer.

        answer: the one that asks, None where the customer asks without the bot; started: the session may have turns.
        Raises RateLimited for one request too many of this customer.
        """
        urgent = request.reason in _URGENT
        await self._limits.count_handoff(key.tenant, sender, question.caller or key.session_id, urgent=urgent)
        before = await self._conversations.load_last_turns(key.tenant, key.session_id, TRIED) if started else []
        urgency = get_priority(request)
        made = build_card(question, answer, request, before, urgency)
        forecast = await self._queue.compute_forecast(key.tenant, urgency, skill)
        queue = forecast.queue
        if queue.estimated_wait_s is None:
            ticket = await self.open_ticket(key, question.caller, str(made["summary"]), urgency)
            queue = QueueState(queue.state, queue.position, ticket=ticket)
        late = queue.state is State.OUT_OF_HOURS
        opening = Opening(
            event=Event.REQUEST_AFTER_HOURS if late else Event.REQUEST,
            actor=actor,
            reason=request.reason.value,
            priority=urgency,
            emotion=request.emotion,
            skill=skill,
            caller=question.caller,
            card=made,
            ticket=queue.ticket,
            notice=ENTERED,
        )
        english = await self._queue.is_english(key.tenant, question)
        notice = build_queue_notice(queue, forecast.opening, english=english, answering=self._answering)
        return opening, queue, notice

    async def open_ticket(self, key: SessionKey, user_id: str, description: str, urgency: int) -> str:
        """The number of the ticket that stands for the customer while nobody is there."""
        text, level = description or SUBJECT, _choose_level(urgency)
        return (await self._tickets.open(key.tenant, key.session_id, user_id, SUBJECT, text, level)).number

    async def require_working(self, tenant: str, agent_id: str) -> None:
        """Raises Conflict where a member of staff is known to be off duty."""
        await self._queue.require_working(tenant, agent_id)

    def build_opener(self, session: DeskSession) -> Opener:
        """As `open_ticket`, for a session that waits, within a transaction."""
        text, level = str(session.card.get("summary", "")) or SUBJECT, _choose_level(session.priority)
        return self._tickets.opener(session.tenant, session.session_id, session.caller, SUBJECT, text, level)


def _choose_level(urgency: int) -> Priority:
    return Priority.HIGH if urgency > 0 else Priority.NORMAL
