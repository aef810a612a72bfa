"""The states of a ticket and the moves between them, as one table, and what each move changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from agents.ticketing.types import DONE, TicketState
from app.db.base import now
from app.errors import Conflict
from app.tickets.repository import SYSTEM, NewEvent, TicketRow
from app.tickets.sla import ServiceLevels

# In the history, and the last that the customer is told of the ticket.
_SERVED = "人工客服已在会话中为您解决。"
# In the place of a subject in the customer's words.
ERASED_SUBJECT = "（会话已删除）"
_ACTIVE = frozenset({TicketState.IN_PROGRESS, TicketState.WAITING, *DONE})
TRANSITIONS: Mapping[TicketState, frozenset[TicketState]] = {
    TicketState.OPEN: _ACTIVE,
    TicketState.IN_PROGRESS: _ACTIVE - {TicketState.IN_PROGRESS},
    TicketState.WAITING: _ACTIVE - {TicketState.WAITING},
    TicketState.RESOLVED: frozenset({TicketState.CLOSED, TicketState.REOPENED}),
    TicketState.CLOSED: frozenset({TicketState.REOPENED}),
    TicketState.REOPENED: _ACTIVE,
}


def move_to_state(ticket: TicketRow, to: TicketState, moment: datetime, levels: ServiceLevels) -> TicketRow:
    """Returns the ticket in another state. Raises Conflict where the table has no such move."""
    if to not in TRANSITIONS[ticket.state]:
        raise Conflict(
            f"工单不能从 {ticket.state.value} 变为 {to.value}",
            code="invalid_transition",
            state=ticket.state.value,
            allowed=sorted(TRANSITIONS[ticket.state]),
        )
    ticket = _resume_clock(ticket, moment)
    if to is TicketState.REOPENED:
        due = moment + levels.get_resolution_time(ticket.priority)
        return replace(ticket, state=to, resolved_at=None, resolve_by=due)
    if to is not TicketState.CLOSED:
        ticket = mark_responded(ticket, moment)
    waiting = moment if to is TicketState.WAITING else None
    resolved = (ticket.resolved_at or moment) if to in DONE else None
    return replace(ticket, state=to, waiting_since=waiting, resolved_at=resolved)


def mark_responded(ticket: TicketRow, moment: datetime) -> TicketRow:
    """Returns the ticket with the time of its first response, unless it has one."""
    return ticket if ticket.responded_at else replace(ticket, responded_at=moment)


def resolve_desk_ticket(ticket: TicketRow) -> tuple[TicketRow, NewEvent]:
    """Returns a ticket of the desk as resolved, since a person has served the customer, and the event."""
    moment = now()
    after = replace(mark_responded(ticket, moment), state=TicketState.RESOLVED, resolved_at=moment)
    return after, NewEvent("transition", SYSTEM, _SERVED, public=True)


def apply_customer_comment(ticket: TicketRow, moment: datetime, levels: ServiceLevels) -> TicketRow:
    """Returns the ticket after a comment of the customer, who starts a waiting one and reopens a resolved one."""
    if ticket.state is TicketState.WAITING:
        return replace(_resume_clock(ticket, moment), state=TicketState.IN_PROGRESS)
    return (
        move_to_state(ticket, TicketState.REOPENED, moment, levels) if ticket.state is TicketState.RESOLVED else ticket
    )


def _resume_clock(ticket: TicketRow, moment: datetime) -> TicketRow:
    """Returns the ticket with its clock running again; the time that it waited does not count."""
    if ticket.waiting_since is None:
        return ticket
    paused = max(moment - ticket.waiting_since, timedelta(0))
    late = timedelta(0) if ticket.responded_at else paused
    return replace(
        ticket,
        waiting_since=None,
        resolve_by=ticket.resolve_by + paused,
        respond_by=ticket.respond_by + late,
    )
