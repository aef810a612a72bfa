"""The actions of staff, customers and the desk on tickets."""

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
    NewEvent,
    Opener,
    OpeningHook,
    TicketChange,
    TicketEventRow,
    TicketOrigin,
    TicketRepository,
    TicketRow,
    open_in_transaction,
)
from app.tickets.sla import ServiceLevels
from app.tickets.states import apply_customer_comment, mark_responded, move_to_state

MAX_SUBJECT_CHARS = 100
# By who opens a ticket; all others are staff.
_ORIGINS = {BOT: TicketOrigin.CONVERSATION, SYSTEM: TicketOrigin.DESK}
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
        self.repository = repository
        self._levels = levels
        self._on_open = on_open
        self._clock = clock

    async def open_ticket(self, tenant: str, owner: TicketOwner, new: NewTicket) -> TicketRow:
        """Opens the ticket of a customer whom nobody can serve now; returns the one that the desk opened for the
        conversation before, if that is not done.
        """
        return (await self.create_ticket(tenant, owner, new, SYSTEM))[0]

    async def create_ticket(
        self,
        tenant: str,
        owner: TicketOwner,
        new: NewTicket,
        actor: str,
        *,
        verified: bool = True,
        hook: OpeningHook | None = None,
    ) -> tuple[TicketRow, bool]:
        """Opens a ticket.

        Args:
            tenant: Whose it is.
            owner: The customer.
            new: Its content.
            actor: Who opens it.
            verified: The owner is a proved member.
            hook: What else to write in the same transaction.

        Returns:
            The ticket, or the open one of the same conversation and subject; and whether it is new.
        """
        ticket = self._build_ticket(owner, new, actor, verified=verified)
        opened = await self.repository.open_ticket(tenant, ticket, NewEvent("created", actor, public=True), hook)
        self._on_open()
        return opened

    def build_opener(self, tenant: str, owner: TicketOwner, new: NewTicket) -> Opener:
        """Returns a function that opens the ticket in a transaction of the caller, who wakes the outbox afterwards."""
        ticket = self._build_ticket(owner, new, SYSTEM)
        created = NewEvent("created", SYSTEM, public=True)
        return lambda connection: open_in_transaction(connection, tenant, ticket, created)[0]

    def _build_ticket(self, owner: TicketOwner, new: NewTicket, actor: str, *, verified: bool = True) -> TicketRow:
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
            respond_by=moment + self._levels.get_response_time(new.priority),
            resolve_by=moment + self._levels.get_resolution_time(new.priority),
            responded_at=None,
            waiting_since=None,
            resolved_at=None,
            created_at=moment,
            updated_at=moment,
        )

    async def get_ticket(self, tenant: str, number: str) -> tuple[TicketRow, list[TicketEventRow]]:
        """Returns a ticket with its history. Raises NotFound."""
        ticket = await self.repository.get_ticket(tenant, number)
        if ticket is None:
            raise _build_unknown_error(number)
        return ticket, await self.repository.list_events(tenant, number)

    async def move_ticket(
        self, tenant: str, number: str, to: TicketState, actor: str, note: str = "", version: int | None = None
    ) -> TicketRow:
        """Moves a ticket to another state. Raises NotFound, Conflict."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            _require_version(ticket, version)
            return move_to_state(ticket, to, self._clock(), self._levels), NewEvent(
                "transition", actor, note, public=True
            )

        return await self._change_ticket(tenant, number, work)

    async def add_comment(self, tenant: str, number: str, actor: str, text: str, *, public: bool) -> TicketRow:
        """Adds a comment of staff; a public one is shown to the customer and counts as a response. Raises NotFound."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            after = mark_responded(ticket, self._clock()) if public else ticket
            return after, NewEvent("comment", actor, text, public)

        return await self._change_ticket(tenant, number, work)

    async def edit_ticket(
        self, tenant: str, number: str, actor: str, fields: dict[str, Any], version: int | None = None
    ) -> TicketRow:
        """Sets subject, description, category, priority, assignee or team. Raises NotFound, Conflict."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            _require_version(ticket, version)
            after = replace(self._change_priority(ticket, fields.get("priority", ticket.priority)), **fields)
            changed = [name for name in fields if getattr(ticket, name) != getattr(after, name)]
            return after, NewEvent("updated", actor, "、".join(changed))

        return await self._change_ticket(tenant, number, work)

    async def change_tickets(
        self, tenant: str, numbers: Sequence[str], actor: str, fields: dict[str, Any], to: TicketState | None, note: str
    ) -> list[TicketRow | NotFound | Conflict]:
        """Sets the same fields of several tickets, or moves them to the same state where `to` is given.

        Returns:
            For each number the ticket, or why it stays as it was.
        """
        outcomes: list[TicketRow | NotFound | Conflict] = []
        for number in numbers:
            try:
                if to is None:
                    outcomes.append(await self.edit_ticket(tenant, number, actor, fields))
                else:
                    outcomes.append(await self.move_ticket(tenant, number, to, actor, note))
            except (NotFound, Conflict) as refused:
                outcomes.append(refused)
        return outcomes

    async def add_customer_comment(self, tenant: str, owner: TicketOwner, number: str, text: str) -> TicketRow | None:
        """Adds a comment of the customer; None when it is not the owner's ticket. Raises Conflict once it is closed."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            if ticket.state is TicketState.CLOSED:
                raise Conflict("工单已关闭，不能再补充", code="ticket_closed", number=ticket.number)
            after = apply_customer_comment(ticket, self._clock(), self._levels)
            return after, NewEvent("comment", CUSTOMER, text, public=True)

        return await self.repository.change_ticket(tenant, number, work, owner)

    async def urge_ticket(self, tenant: str, owner: TicketOwner, number: str) -> TicketRow | None:
        """Raises the priority of a ticket by a step, never to urgent, as its customer asks; None when it is not the
        owner's.
        """

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            sooner = _SOONER.get(ticket.priority, ticket.priority)
            return self._change_priority(ticket, sooner), NewEvent("urged", CUSTOMER, public=True)

        return await self.repository.change_ticket(tenant, number, work, owner)

    async def close_ticket(self, tenant: str, owner: TicketOwner, number: str) -> TicketRow | None:
        """Closes a ticket as its customer asks; None when it is not the owner's. Raises Conflict when it is closed."""

        def work(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
            after = move_to_state(ticket, TicketState.CLOSED, self._clock(), self._levels)
            return after, NewEvent("transition", CUSTOMER, public=True)

        return await self.repository.change_ticket(tenant, number, work, owner)

    def _change_priority(self, ticket: TicketRow, priority: Priority) -> TicketRow:
        """Changes the priority; the deadlines move by the difference of the levels, so waiting still does not count."""
        levels, old = self._levels, ticket.priority
        return replace(
            ticket,
            priority=priority,
            resolve_by=ticket.resolve_by + levels.get_resolution_time(priority) - levels.get_resolution_time(old),
            respond_by=ticket.respond_by + levels.get_response_time(priority) - levels.get_response_time(old),
        )

    async def _change_ticket(self, tenant: str, number: str, work: TicketChange) -> TicketRow:
        ticket = await self.repository.change_ticket(tenant, number, work)
        if ticket is None:
            raise _build_unknown_error(number)
        return ticket


def _require_version(ticket: TicketRow, version: int | None) -> None:
    if version is not None and version != ticket.version:
        raise Conflict("工单已被别人改动，请刷新后再试", code="ticket_changed", version=ticket.version)


def _build_unknown_error(number: str) -> NotFound:
    return NotFound("没有找到这个工单，请核对编号。", code="ticket_not_found", number=number)
