"""What staff, customers and the desk do with tickets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from agents.ticketing.types import NewTicket, TicketOwner, TicketState
from agents.understanding.tickets import Priority
from app.db.base import now
from app.errors import Conflict, NotFound
from app.tickets.repository import (
    BOT,
    CUSTOMER,
    SYSTEM,
    Change,
    NewEvent,
    Opener,
    TicketEventRow,
    TicketFilter,
    TicketOrder,
    TicketOrigin,
    TicketRepository,
    TicketRow,
    Together,
    open_within,
)
from app.tickets.sla import ServiceLevels
from app.tickets.states import answered_by_customer, moved, responded

MAX_SUBJECT_CHARS = 100
_ORIGINS = {BOT: TicketOrigin.CONVERSATION, SYSTEM: TicketOrigin.DESK}
"""By who opens a ticket; all others are staff."""
_SOONER = {Priority.LOW: Priority.NORMAL, Priority.NORMAL: Priority.HIGH}


class TicketService:
    """on_open: called once a new ticket is kept; clock: aware times in UTC."""

    def __init__(
        self,
        repository: TicketRepository,
        levels: ServiceLevels,
        on_open: Callable[[], None] = lambda: None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._repository = repository
        self._levels = levels
        self._on_open = on_open
        self._clock = clock

    async def open(self, tenant: str, owner: TicketOwner, new: NewTicket) -> TicketRow:
        """The ticket that stands for a customer while nobody is there; the one that the desk made for the conversation
        already, if that is not done.
        """
        return (await self.create(tenant, owner, new, SYSTEM))[0]

    async def create(
        self,
        tenant: str,
        owner: TicketOwner,
        new: NewTicket,
        actor: str,
        *,
        verified: bool = True,
        together: Together | None = None,
    ) -> tuple[TicketRow, bool]:
        """As `open`, and whether the ticket is new; verified: the owner is a proved member, not somebody's word.
        together: see `Together`.
        """
        ticket = self._made(owner, new, actor, verified=verified)
        opened = await self._repository.open(tenant, ticket, NewEvent("created", actor, public=True), together)
        self._on_open()
        return opened

    def build_opener(self, tenant: str, owner: TicketOwner, new: NewTicket) -> Opener:
        """As `open`, to be done within a transaction of the caller, who tells of it afterwards."""
        ticket = self._made(owner, new, SYSTEM)
        created = NewEvent("created", SYSTEM, public=True)
        return lambda connection: open_within(connection, tenant, ticket, created)[0]

    def _made(self, owner: TicketOwner, new: NewTicket, actor: str, *, verified: bool = True) -> TicketRow:
        moment = self._clock()
        return TicketRow(
            number="",
            origin=_ORIGINS.get(actor, TicketOrigin.STAFF),
            session_id=owner.session,
            user_id=owner.caller,
            verified=verified and bool(owner.caller),
            subject=new.subject.strip()[:MAX_SUBJECT_CHARS],
            description=new.description.strip(),
            category=new.category,
            priority=new.priority,
            state=TicketState.OPEN,
            assignee="",
            team="",
            version=1,
            respond_by=moment + self._levels.respond(new.priority),
            resolve_by=moment + self._levels.resolve(new.priority),
            responded_at=None,
            waiting_since=None,
            resolved_at=None,
            created_at=moment,
            updated_at=moment,
        )

    async def get(self, tenant: str, number: str) -> tuple[TicketRow, list[TicketEventRow]]:
        """The ticket with its history. Raises NotFound."""
        ticket = await self._repository.get(tenant, number)
        if ticket is None:
            raise _unknown(number)
        return ticket, await self._repository.history(tenant, number)

    async def page(
        self,
        tenant: str,
        wanted: TicketFilter,
        limit: int,
        offset: int = 0,
        order: TicketOrder = TicketOrder.URGENCY,
    ) -> tuple[list[TicketRow], int]:
        """See `TicketRepository.page`."""
        return await self._repository.page(tenant, wanted, limit, offset, order)

    async def of(self, tenant: str, owner: TicketOwner, number: str = "") -> list[tuple[TicketRow, str]]:
        """See `TicketRepository.of`."""
        return await self._repository.of(tenant, owner, number)

    async def move(
        self, tenant: str, number: str, to: TicketState, actor: str, note: str = "", version: int | None = None
    ) -> TicketRow:
        """Takes the ticket to another state. Raises NotFound, Conflict."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            _expect(ticket, version)
            return moved(ticket, to, self._clock(), self._levels), NewEvent("transition", actor, note, public=True)

        return await self._change(tenant, number, work)

    async def comment(self, tenant: str, number: str, actor: str, text: str, *, public: bool) -> TicketRow:
        """Staff's words; a public one is told to the customer and counts as a response. Raises NotFound."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            after = responded(ticket, self._clock()) if public else ticket
            return after, NewEvent("comment", actor, text, public)

        return await self._change(tenant, number, work)

    async def edit(
        self, tenant: str, number: str, actor: str, fields: dict[str, Any], version: int | None = None
    ) -> TicketRow:
        """Sets subject, description, category, priority, assignee or team. Raises NotFound, Conflict."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            _expect(ticket, version)
            after = replace(self._with_priority(ticket, fields.get("priority", ticket.priority)), **fields)
            changed = [name for name in fields if getattr(ticket, name) != getattr(after, name)]
            return after, NewEvent("updated", actor, "、".join(changed))

        return await self._change(tenant, number, work)

    async def change_many(
        self, tenant: str, numbers: Sequence[str], actor: str, fields: dict[str, Any], to: TicketState | None, note: str
    ) -> list[TicketRow | NotFound | Conflict]:
        """Sets the same fields of several tickets, or takes them to the same state where `to` is given.

        Returns:
            For each number the ticket, or why it stays as it was.
        """
        outcomes: list[TicketRow | NotFound | Conflict] = []
        for number in numbers:
            try:
                if to is None:
                    outcomes.append(await self.edit(tenant, number, actor, fields))
                else:
                    outcomes.append(await self.move(tenant, number, to, actor, note))
            except (NotFound, Conflict) as refused:
                outcomes.append(refused)
        return outcomes

    async def add(self, tenant: str, owner: TicketOwner, number: str, text: str) -> TicketRow | None:
        """The customer's words; None when it is not the owner's. Raises Conflict once it is closed."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            if ticket.state is TicketState.CLOSED:
                raise Conflict("工单已关闭，不能再补充", code="ticket_closed", number=ticket.number)
            after = answered_by_customer(ticket, self._clock(), self._levels)
            return after, NewEvent("comment", CUSTOMER, text, public=True)

        return await self._repository.change(tenant, number, work, owner)

    async def urge(self, tenant: str, owner: TicketOwner, number: str) -> TicketRow | None:
        """The customer presses: it becomes more urgent by a step, but not urgent; None when it is not the owner's."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            sooner = _SOONER.get(ticket.priority, ticket.priority)
            return self._with_priority(ticket, sooner), NewEvent("urged", CUSTOMER, public=True)

        return await self._repository.change(tenant, number, work, owner)

    async def close(self, tenant: str, owner: TicketOwner, number: str) -> TicketRow | None:
        """The customer needs it no more; None when it is not the owner's. Raises Conflict when it is closed already."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            after = moved(ticket, TicketState.CLOSED, self._clock(), self._levels)
            return after, NewEvent("transition", CUSTOMER, public=True)

        return await self._repository.change(tenant, number, work, owner)

    def _with_priority(self, ticket: TicketRow, priority: Priority) -> TicketRow:
        """What was waited stays uncounted: the ends move by what the levels differ."""
        levels, old = self._levels, ticket.priority
        return replace(
            ticket,
            priority=priority,
            resolve_by=ticket.resolve_by + levels.resolve(priority) - levels.resolve(old),
            respond_by=ticket.respond_by + levels.respond(priority) - levels.respond(old),
        )

    async def _change(self, tenant: str, number: str, work: Change) -> TicketRow:
        ticket = await self._repository.change(tenant, number, work)
        if ticket is None:
            raise _unknown(number)
        return ticket


def _expect(ticket: TicketRow, version: int | None) -> None:
    if version is not None and version != ticket.version:
        raise Conflict("工单已被别人改动，请刷新后再试", code="ticket_changed", version=ticket.version)


def _unknown(number: str) -> NotFound:
    return NotFound("没有找到这个工单，请核对编号。", code="ticket_not_found", number=number)
