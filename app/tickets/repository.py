"""Tickets and their history."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, insert, or_, select, update

from agents.ticketing.types import DONE, TicketOwner, TicketState
from agents.understanding.tickets import Category, Priority
from app.db.base import now
from app.db.engine import Database, insert_into
from app.privacy import mask_personal_data
from app.tickets.tables import Ticket, TicketEvent
from app.webhooks.events import WebhookEvent, emit_event

# Of what the conversation's erasure does to its tickets: nothing to tell anybody.
ERASED = "erased"
# Actors that are not staff.
CUSTOMER, BOT, SYSTEM = "customer", "bot", "system"


class TicketOrigin(StrEnum):
    """Who opened a ticket: a customer in a conversation, the desk because nobody was there, or staff."""

    CONVERSATION = "conversation"
    DESK = "desk"
    STAFF = "staff"


class TicketOrder(StrEnum):
    """How a list is ordered. URGENCY: what is not done first, the most urgent of it before the rest; DUE: what has to
    be resolved first.
    """

    URGENCY = "urgency"
    DUE = "due"
    NEWEST = "newest"
    OLDEST = "oldest"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class TicketRow:
    """A ticket as it is stored, see the table. Its clock stands still while it waits for the customer, and stops when
    it is resolved.
    """

    number: str
    origin: TicketOrigin
    session_id: str
    user_id: str
    verified: bool
    subject: str
    description: str
    category: Category
    priority: Priority
    state: TicketState
    assignee: str
    team: str
    version: int
    respond_by: datetime
    resolve_by: datetime
    responded_at: datetime | None
    waiting_since: datetime | None
    resolved_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @property
    def is_paused(self) -> bool:
        return self.waiting_since is not None

    def compute_remaining(self, moment: datetime) -> timedelta:
        """Returns the time left to resolve it; negative once it is over."""
        return self.resolve_by - (self.resolved_at or self.waiting_since or moment)

    def is_response_breached(self, moment: datetime) -> bool:
        """Whether the first response came after `respond_by`, or is missing after it at this moment.

        A ticket that is resolved or waits for the customer counts as answered at that time.
        """
        return (self.responded_at or self.resolved_at or self.waiting_since or moment) > self.respond_by

    def is_breached(self, moment: datetime) -> bool:
        """Whether the ticket was resolved after `resolve_by`, or is unresolved after it at this moment."""
        return self.compute_remaining(moment) < timedelta(0)


@dataclass(frozen=True, slots=True)
class NewEvent:
    """What is done to a ticket."""

    kind: str
    # Customer, bot, system, or the name of a member of staff.
    actor: str
    text: str = ""
    public: bool = False


@dataclass(frozen=True, slots=True)
class TicketEventRow:
    """What was done, with the state that the ticket had afterwards."""

    number: int
    kind: str
    actor: str
    text: str
    state: TicketState
    public: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TicketFilter:
    """What a list is narrowed to; empty for all."""

    states: tuple[TicketState, ...] = ()
    priority: Priority | None = None
    category: Category | None = None
    session_id: str = ""
    user_id: str = ""
    assignee: str = ""
    team: str = ""
    # Neither to a person nor to a team.
    unassigned: bool = False
    # Not done, and the time to resolve it is over.
    overdue: bool = False
    # In the number, the subject, the description, the user or the conversation.
    text: str = ""


# From a ticket, the changed ticket and the event of its history; an exception changes nothing.
TicketChange = Callable[[TicketRow], tuple[TicketRow, NewEvent]]
# Opens a ticket within a transaction.
Opener = Callable[[Connection], TicketRow]
# Writes more in the transaction that opens a ticket: both are stored or neither.
OpeningHook = Callable[[Connection, TicketRow], None]

_COLUMNS = tuple(getattr(Ticket, name) for name in TicketRow.__dataclass_fields__)
_URGENCY = case({priority.value: place for place, priority in enumerate(Priority)}, value=Ticket.priority)
_DONE = case((Ticket.state.in_([state.value for state in DONE]), 1), else_=0)
_ORDERS: Mapping[TicketOrder, tuple[ColumnElement[Any], ...]] = {
    TicketOrder.URGENCY: (_DONE, _URGENCY.desc(), Ticket.resolve_by.asc()),
    TicketOrder.DUE: (_DONE, Ticket.resolve_by.asc()),
    TicketOrder.NEWEST: (Ticket.created_at.desc(),),
    TicketOrder.OLDEST: (Ticket.created_at.asc(),),
    TicketOrder.UPDATED: (Ticket.updated_at.desc(),),
}


class TicketRepository:
    """A ticket's number means something only together with its tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_ticket(
        self, tenant: str, ticket: TicketRow, event: NewEvent, hook: OpeningHook | None = None
    ) -> tuple[TicketRow, bool]:
        """Opens a ticket.

        Args:
            tenant: Whose it is.
            ticket: Without its number.
            event: The first of its history.
            hook: What else to write in the same transaction.

        Returns:
            The ticket with its number, or the open one that its conversation has of this subject; and whether it is
                new.
        """

        def work(connection: Connection) -> tuple[TicketRow, bool]:
            opened = open_in_transaction(connection, tenant, ticket, event)
            if hook is not None:
                hook(connection, opened[0])
            return opened

        return await self._database.transact(work)

    async def get_ticket(self, tenant: str, number: str) -> TicketRow | None:
        """Returns a ticket; None where there is none."""
        row = await self._database.fetch_first(select(*_COLUMNS).where(_match_number(tenant, number)))
        return None if row is None else _build_ticket(row)

    async def list_events(self, tenant: str, number: str) -> list[TicketEventRow]:
        """Returns the history of a ticket, the oldest event first."""
        table = TicketEvent
        columns = table.number, table.kind, table.actor, table.text, table.state, table.public, table.created_at
        query = select(*columns).where(table.tenant_id == tenant, table.ticket == number).order_by(table.number)
        rows = await self._database.fetch(query)
        return [TicketEventRow(*row[:4], TicketState(row.state), row.public, row.created_at) for row in rows]

    async def load_page(
        self,
        tenant: str,
        wanted: TicketFilter,
        limit: int = 50,
        offset: int = 0,
        order: TicketOrder = TicketOrder.URGENCY,
    ) -> tuple[list[TicketRow], int]:
        """Returns one page of the tickets that match, and the total number."""
        where = _match_filter(tenant, wanted)
        query = select(*_COLUMNS).where(*where).order_by(*_ORDERS[order], Ticket.number)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_ticket(row) for row in rows], total

    async def list_owned(
        self, tenant: str, owner: TicketOwner, number: str = "", limit: int = 20
    ) -> list[tuple[TicketRow, str]]:
        """Returns the owner's tickets, the latest first, each with the last public comment of staff."""
        where = [Ticket.tenant_id == tenant, _match_owner(owner)]
        if number:
            where.append(Ticket.number == number)
        query = select(*_COLUMNS, _select_last_note()).where(*where).order_by(Ticket.created_at.desc(), Ticket.number)
        rows = await self._database.fetch(query.limit(limit))
        return [(_build_ticket(row[:-1]), row[-1] or "") for row in rows]

    async def change_ticket(
        self, tenant: str, number: str, work: TicketChange, owner: TicketOwner | None = None
    ) -> TicketRow | None:
        """Changes a locked ticket and returns it; None where there is none, or it is not the owner's."""
        return await self._database.transact(
            lambda connection: change_in_transaction(connection, tenant, number, work, owner)
        )


def open_in_transaction(
    connection: Connection, tenant: str, ticket: TicketRow, event: NewEvent
) -> tuple[TicketRow, bool]:
    """See `TicketRepository.open_ticket`, within a transaction."""
    key = _hash_open_key(ticket)
    # The row meets one of two unique keys: that of an open ticket of this subject, which is returned, or a number that
    # was drawn before, in whose place another one is drawn.
    while True:
        ticket = replace(ticket, number=_create_number(ticket.created_at))
        row = insert_into(connection, Ticket).values(tenant_id=tenant, open_key=key, **asdict(ticket))
        if connection.execute(row.on_conflict_do_nothing()).rowcount:
            break
        same = select(*_COLUMNS).where(Ticket.tenant_id == tenant, Ticket.open_key == key)
        if (found := connection.execute(same).first()) is not None:
            return _build_ticket(found), False
    _add_event(connection, tenant, ticket, event)
    emit_event(connection, tenant, WebhookEvent.TICKET_CREATED, _build_payload(ticket))
    return ticket, True


def change_in_transaction(
    connection: Connection, tenant: str, number: str, work: TicketChange, owner: TicketOwner | None = None
) -> TicketRow | None:
    """See `TicketRepository.change_ticket`, within a transaction."""
    where = _match_number(tenant, number) if owner is None else _match_number(tenant, number) & _match_owner(owner)
    row = connection.execute(select(*_COLUMNS).where(where).with_for_update()).first()
    if row is None:
        return None
    before = _build_ticket(row)
    after, event = work(before)
    after = replace(after, version=before.version + 1, updated_at=now())
    values = asdict(after) | {"open_key": _find_free_key(connection, tenant, after)}
    connection.execute(update(Ticket).where(_match_number(tenant, number)).values(values))
    _add_event(connection, tenant, after, event)
    if event.kind != ERASED:
        change = {"kind": event.kind, "by": event.actor, "text": mask_personal_data(event.text), "public": event.public}
        payload = _build_payload(after) | {"assignee": after.assignee, "team": after.team}
        payload |= {"version": after.version, "before": before.state}
        emit_event(connection, tenant, WebhookEvent.TICKET_UPDATED, payload | {"change": change})
    return after


def _build_payload(ticket: TicketRow) -> dict[str, Any]:
    """Returns the fields of a ticket that webhooks get."""
    payload = {name: getattr(ticket, name) for name in ("number", "session_id", "category", "priority", "state")}
    payload |= {"user_id": ticket.user_id, "verified": ticket.verified, "subject": mask_personal_data(ticket.subject)}
    return payload | {name: getattr(ticket, name).isoformat() for name in ("respond_by", "resolve_by", "created_at")}


def _add_event(connection: Connection, tenant: str, ticket: TicketRow, event: NewEvent) -> None:
    table = TicketEvent
    own = (table.tenant_id == tenant) & (table.ticket == ticket.number)
    last = connection.execute(select(func.coalesce(func.max(table.number), 0)).where(own)).scalar_one()
    about = {"tenant_id": tenant, "ticket": ticket.number, "number": last + 1}
    connection.execute(insert(table).values(about | asdict(event) | {"state": ticket.state, "created_at": now()}))


def _find_free_key(connection: Connection, tenant: str, ticket: TicketRow) -> str | None:
    """Returns the open key of a ticket; None where it is done, or another open ticket has the key."""
    if ticket.state in DONE:
        return None
    key = _hash_open_key(ticket)
    other = (Ticket.tenant_id == tenant) & (Ticket.open_key == key) & (Ticket.number != ticket.number)
    return None if connection.execute(select(Ticket.number).where(other)).first() else key


def _hash_open_key(ticket: TicketRow) -> str:
    """Returns the key that open tickets of one conversation, else of one user, share by their subject; without both
    each ticket has its own.
    """
    whose = ticket.session_id or ticket.user_id or secrets.token_hex(8)
    subject = "".join(character for character in ticket.subject.casefold() if character.isalnum())
    about = f"\0{TicketOrigin.DESK}" if ticket.origin is TicketOrigin.DESK else subject
    return hashlib.sha256(f"{whose}\0{about}".encode()).hexdigest()


def _create_number(moment: datetime) -> str:
    """Returns a number that shows the day, but not how many tickets there are: TK260301482913."""
    return f"TK{moment:%y%m%d}{secrets.randbelow(10**6):06d}"


def _match_owner(owner: TicketOwner) -> ColumnElement[bool]:
    mine = []
    if owner.session:
        mine.append(Ticket.session_id == owner.session)
    if owner.caller:
        mine.append(Ticket.user_id == owner.caller)
    return or_(False, *mine)


def _select_last_note() -> Any:
    event = TicketEvent
    own = (event.tenant_id == Ticket.tenant_id) & (event.ticket == Ticket.number)
    notes = own & event.public & event.actor.not_in((CUSTOMER, BOT)) & (event.text != "")
    return select(event.text).where(notes).order_by(event.number.desc()).limit(1).scalar_subquery()


def _match_filter(tenant: str, wanted: TicketFilter) -> Sequence[ColumnElement[bool]]:
    where = [Ticket.tenant_id == tenant]
    if wanted.states:
        where.append(Ticket.state.in_([state.value for state in wanted.states]))
    if wanted.priority is not None:
        where.append(Ticket.priority == wanted.priority.value)
    if wanted.category is not None:
        where.append(Ticket.category == wanted.category.value)
    if wanted.unassigned:
        where += [Ticket.assignee == "", Ticket.team == ""]
    for name in ("session_id", "user_id", "assignee", "team"):
        if value := getattr(wanted, name):
            where.append(getattr(Ticket, name) == value)
    if wanted.text:
        columns = Ticket.number, Ticket.subject, Ticket.description, Ticket.user_id, Ticket.session_id
        where.append(or_(*(column.icontains(wanted.text, autoescape=True) for column in columns)))
    if wanted.overdue:
        where.append(Ticket.state.not_in([state.value for state in DONE]))
        where.append(Ticket.resolve_by < func.coalesce(Ticket.waiting_since, now()))
    return where


def _match_number(tenant: str, number: str) -> ColumnElement[bool]:
    return (Ticket.tenant_id == tenant) & (Ticket.number == number)


def _build_ticket(row: Any) -> TicketRow:
    ticket = TicketRow(*row)
    return replace(
        ticket,
        origin=TicketOrigin(ticket.origin),
        category=Category(ticket.category),
        priority=Priority(ticket.priority),
        state=TicketState(ticket.state),
    )
