"""Tickets in a conversation: proposed, created once confirmed, looked up, pressed for, added to, withdrawn."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence

from agents.base import said
from agents.ticketing.decision import CREATE, DESCRIBE, WITHDRAW, Decision, Reply, decides
from agents.ticketing.draft import described, drafted
from agents.ticketing.replies import (
    ASK_DETAILS,
    DROPPED,
    KEPT,
    NONE_YET,
    NOT_FOUND,
    added,
    created,
    existing,
    listed,
    pressed,
    proposed,
    which,
    withdraw,
    withdrawn,
)
from agents.ticketing.types import DONE, Category, CustomerTicket, NewTicket, Owner, Priority, Tickets, TicketState
from agents.ticketing.wording import Wish, ticket_number, wished
from agents.types import Answer, AnswerEvent, Outcome, Proposal, Question

PROPOSAL_SECONDS = 3600.0
"""How long a proposal waits; a 好的 of the next day means something else."""
YES, NO = "确认", "取消"


class TicketAgent:
    """Nothing is created, and nothing withdrawn, before the customer said yes. clock: seconds since the epoch."""

    name = "ticket"

    def __init__(self, tickets: Tickets, clock: Callable[[], float] = time.time) -> None:
        self._tickets = tickets
        self._clock = clock

    async def run(self, question: Question) -> AsyncGenerator[AnswerEvent]:
        """See `Agent.run`."""
        async for event in said(await self._answer(question)):
            yield event

    async def _answer(self, question: Question) -> Answer:
        reply = decides(question, self._clock())
        if reply is not None and question.proposal is not None:
            return await self._decided(question, question.proposal, reply)
        wish = wished(question.text)
        if wish is Wish.CREATE:
            draft = drafted(question.text, question.history)
            return await self._propose(question, draft) if draft else self._said(question, ASK_DETAILS, DESCRIBE, {})
        found = await self._tickets.mine(_owner(question), ticket_number(question.text))
        if wish is Wish.LOOK_UP:
            return self._said(question, listed(found) if found else _missing(question))
        return await self._about(question, wish, found)

    async def _decided(self, question: Question, proposal: Proposal, reply: Reply) -> Answer:
        if reply.decision is Decision.CANCEL:
            return self._said(question, KEPT if proposal.action == WITHDRAW else DROPPED)
        if proposal.action == WITHDRAW:
            ticket = await self._tickets.close(_owner(question), proposal.fields["number"])
            return self._said(question, withdrawn(ticket) if ticket else NOT_FOUND)
        if proposal.action == DESCRIBE:
            told = reply.text if reply.decision is Decision.SUPPLEMENT else ""
            if not told:
                return self._said(question, ASK_DETAILS, DESCRIBE, {})
            return await self._propose(question, described(told))
        draft = _with(_draft(proposal), reply.text)
        if reply.decision is Decision.SUPPLEMENT:
            return self._proposal(question, draft)
        ticket, new = await self._tickets.open(_owner(question), draft)
        return self._said(question, created(ticket) if new else existing(ticket))

    async def _propose(self, question: Question, draft: NewTicket) -> Answer:
        """Unless the conversation has it already."""
        owner = _owner(question)
        same = [
            ticket
            for ticket in (await self._tickets.mine(owner) if owner.session or owner.caller else ())
            if ticket.subject == draft.subject and ticket.state not in DONE
        ]
        return self._said(question, existing(same[0])) if same else self._proposal(question, draft)

    def _proposal(self, question: Question, draft: NewTicket) -> Answer:
        fields = {
            "subject": draft.subject,
            "description": draft.description,
            "category": draft.category.value,
            "priority": draft.priority.value,
        }
        return self._said(question, proposed(draft), CREATE, fields)

    async def _about(self, question: Question, wish: Wish, found: Sequence[CustomerTicket]) -> Answer:
        """Of tickets that are there: the one that is named, or the only one that is not done."""
        meant = found if ticket_number(question.text) else [ticket for ticket in found if ticket.state not in DONE]
        if not meant:
            return self._said(question, listed(found) if found else _missing(question))
        if len(meant) > 1:
            return self._said(question, which(meant))
        (ticket,) = meant
        if ticket.state is TicketState.CLOSED:
            return self._said(question, listed([ticket]))
        if wish is Wish.WITHDRAW:
            return self._said(question, withdraw(ticket), WITHDRAW, {"number": ticket.number})
        owner, number = _owner(question), ticket.number
        if wish is Wish.URGE:
            changed = await self._tickets.urge(owner, number)
            return self._said(question, pressed(changed) if changed else NOT_FOUND)
        changed = await self._tickets.add(owner, number, question.text)
        return self._said(question, added(changed) if changed else NOT_FOUND)

    def _said(self, question: Question, reply: str, action: str = "", fields: dict[str, str] | None = None) -> Answer:
        proposal = Proposal(action, fields or {}, self._clock() + PROPOSAL_SECONDS) if action else None
        return Answer(
            reply=reply,
            outcome=Outcome.ANSWERED,
            intent="ticket",
            agent=self.name,
            suggestions=(YES, NO) if action in (CREATE, WITHDRAW) else (),
            proposal=proposal,
            degraded=question.degraded,
            usage=question.usage,
        )


def _owner(question: Question) -> Owner:
    return Owner(question.session, question.caller)


def _missing(question: Question) -> str:
    return NOT_FOUND if ticket_number(question.text) else NONE_YET


def _draft(proposal: Proposal) -> NewTicket:
    fields = proposal.fields
    category, priority = Category(fields["category"]), Priority(fields["priority"])
    return NewTicket(fields["subject"], fields["description"], category, priority)


def _with(draft: NewTicket, text: str) -> NewTicket:
    """What is added may make it more urgent, never less."""
    if not text:
        return draft
    more = described(text)
    urgency = list(Priority)
    priority = max(draft.priority, more.priority, key=urgency.index)
    category = more.category if draft.category is Category.OTHER else draft.category
    return NewTicket(draft.subject, f"{draft.description}\n{text}", category, priority)
