"""What may become of a ticket, as one table, and what each change does to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from agents.ticketing.types import DONE, TicketState
from app.db.base import now
from app.errors import Conflict
from app.tickets.repository import SYSTEM, NewEvent, TicketRow
from app.tickets.sla import ServiceLevels

_SERVED = "人工客服已在会话中为您解决。"
"""In the history, and the last that the customer is told of the ticket."""
ERASED_SUBJECT = "（会话已删除）"
"""In the place of a subject in the customer's words."""
_ACTIVE = frozenset({TicketState.IN_PROGRESS, TicketState.WAITING, *DONE})
TRANSITIONS: Mapping[TicketState, frozenset[TicketState]] = {
    TicketState.OPEN: _ACTIVE,
    TicketState.IN_PROGRESS: _ACTIVE - {TicketState.IN_PROGRESS},
    TicketState.WAITING: _ACTIVE - {TicketState.WAITING},
    TicketState.RESOLVED: frozenset({TicketState.CLOSED, TicketState.REOPENED}),
    TicketState.CLOSED: frozenset({TicketState.REOPENED}),
    TicketState.REOPENED: _ACTIVE,
}


def moved(ticket: TicketRow, to: TicketState, moment: datetime, levels: ServiceLevels) -> TicketRow:
    """The ticket in another state. Raises Conflict where the table knows no way."""
    if to not in TRANSITIONS[ticket.state]:
        raise Conflict(
            f"工单不能从 {ticket.state.value} 变为 {to.value}",
            code="invalid_transition",
            state=ticket.state.value,
            allowed=sorted(TRANSITIONS[ticket.state]),
        )
    ticket = _resumed(ticket, moment)
    if to is TicketState.REOPENED:
        due = moment + levels.resolve(ticket.priority)
        return replace(ticket, state=to, resolved_at=None, resolve_by=due)
    if to is not TicketState.CLOSED:
        ticket = responded(ticket, moment)
    waiting = moment if to is TicketState.WAITING else None
    resolved = (ticket.resolved_at or moment) if to in DONE else None
    return replace(ticket, state=to, waiting_since=waiting, resolved_at=resolved)


def responded(ticket: TicketRow, moment: datetime) -> TicketRow:
    """The customer heard of it for the first time, unless that was before."""
    return ticket if ticket.responded_at else replace(ticket, responded_at=moment)


def served(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
    """A ticket that stood for a person, once a person was there."""
    moment = now()
    after = replace(responded(ticket, moment), state=TicketState.RESOLVED, resolved_at=moment)
    return after, NewEvent("transition", SYSTEM, _SERVED, public=True)


def answered_by_customer(ticket: TicketRow, moment: datetime, levels: ServiceLevels) -> TicketRow:
    """What the customer adds sets a waiting ticket going, and opens a resolved one again."""
    if ticket.state is TicketState.WAITING:
        return replace(_resumed(ticket, moment), state=TicketState.IN_PROGRESS)
    return moved(ticket, TicketState.REOPENED, moment, levels) if ticket.state is TicketState.RESOLVED else ticket


def _resumed(ticket: TicketRow, moment: datetime) -> TicketRow:
    """The clock goes on; what was waited does not count."""
    if ticket.waiting_since is None:
        return ticket
    waited = max(moment - ticket.waiting_since, timedelta(0))
    late = timedelta(0) if ticket.responded_at else waited
    return replace(
        ticket,
        waiting_since=None,
        resolve_by=ticket.resolve_by + waited,
        respond_by=ticket.respond_by + late,
    )
