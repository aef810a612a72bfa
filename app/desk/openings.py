"""Makes a request for a person ready: card, ticket where nobody is there, and what the customer is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agents.ticketing.types import NewTicket, TicketOwner
from agents.types import Answer, HandoffReason, HandoffRequest, Question
from app.desk.card import TRIED, build_card
from app.desk.queue import Queue
from app.desk.queue_notices import build_queue_notice
from app.desk.ticket_draft import draft_ticket
from app.desk.triggers import get_priority
from app.desk.types import DeskSession, Numbered, QueueState, State
from app.limits.service import RateLimits
from app.limits.types import NOBODY, Requester
from app.turns.types import Opening
from app.types import SessionKey

if TYPE_CHECKING:
    from app.conversations.repository import ConversationRepository
    from app.desk.partners import Opener


HANDED_OVER_NOTICE = "已转人工，正在等待客服接入。"
_URGENT = frozenset({HandoffReason.HIGH_STAKES, HandoffReason.EMOTION})


class TicketDesk(Protocol):
    """Where tickets are kept."""

    async def open_ticket(self, tenant: str, owner: TicketOwner, new: NewTicket) -> Numbered:
        """Opens a ticket; returns the one that the desk opened for the conversation before, if that is not done."""

    def build_opener(self, tenant: str, owner: TicketOwner, new: NewTicket) -> Opener:
        """Returns a function that opens the ticket within a transaction."""


class Openings:
    """Reads only, but for the ticket; the request is written with the turn that made it. answering: see
    `states.is_silent`.
    """

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
        skill: str = "",
        started: bool = True,
        sender: Requester = NOBODY,
    ) -> tuple[Opening, QueueState, str]:
        """Prepares a request for a person, before the transaction that writes it.

        Args:
            key: The session.
            request: Why a person is asked for, and how urgently.
            question: The customer's question.
            answer: The answer that asks for a person; None where the customer asks without the bot.
            skill: What the person must be able to do; empty for anybody.
            started: Whether the session may have turns already, which then go onto the card.
            sender: Whose requests are counted.

        Returns:
            The request, the place in the queue that the session will have, and the notice for the customer.

        Raises:
            RateLimited: The customer has asked for a person too often.
        """
        urgent = request.reason in _URGENT
        await self._limits.count_handoff(key.tenant, sender, question.caller or key.session_id, urgent=urgent)
        before = await self._conversations.load_last_turns(key.tenant, key.session_id, TRIED) if started else []
        urgency = get_priority(request)
        made = build_card(question, answer, request, before, urgency)
        forecast = await self._queue.compute_forecast(key.tenant, urgency, skill)
        queue = forecast.queue
        if queue.estimated_wait_s is None:
            owner = TicketOwner(key.session_id, question.caller)
            opened = await self._tickets.open_ticket(key.tenant, owner, draft_ticket(made, urgency))
            queue = QueueState(queue.state, queue.position, ticket=opened.number)
        opening = Opening(
            after_hours=queue.state is State.OUT_OF_HOURS,
            by_customer=answer is None,
            reason=request.reason.value,
            priority=urgency,
            emotion=request.emotion,
            skill=skill,
            caller=question.caller,
            card=made,
            ticket=queue.ticket,
            notice=HANDED_OVER_NOTICE,
        )
        english = await self._queue.is_english(key.tenant, question)
        notice = build_queue_notice(queue, forecast.opening, english=english, answering=self._answering)
        return opening, queue, notice

    async def require_working(self, tenant: str, agent_id: str) -> None:
        """Raises Conflict if a member of staff is off duty; staff without a recorded duty may work."""
        await self._queue.require_working(tenant, agent_id)

    def build_opener(self, session: DeskSession) -> Opener:
        """Returns a function that opens, within a transaction, the ticket of a customer who waits."""
        owner = TicketOwner(session.session_id, session.caller)
        return self._tickets.build_opener(session.tenant, owner, draft_ticket(session.card, session.priority))
