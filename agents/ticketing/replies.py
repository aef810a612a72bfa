"""What customers are told of tickets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from agents.answering.dating import day_said
from agents.ticketing.types import DONE, CustomerTicket, NewTicket, TicketState
from agents.understanding.tickets import Priority
from agents.wording.catalogue import say

MAX_LISTED, MAX_SHOWN_CHARS = 5, 200
_STATES = {
    TicketState.OPEN: "ticket_state_open",
    TicketState.IN_PROGRESS: "ticket_state_in_progress",
    TicketState.WAITING: "ticket_state_waiting",
    TicketState.RESOLVED: "ticket_state_resolved",
    TicketState.CLOSED: "ticket_state_closed",
    TicketState.REOPENED: "ticket_state_reopened",
}
_PRIORITIES = {
    Priority.LOW: "ticket_priority_low",
    Priority.HIGH: "ticket_priority_high",
    Priority.URGENT: "ticket_priority_urgent",
}
"""Told where it is not the usual one."""


class TicketReplies:
    """The replies that say how a ticket stands. zone: in which times are told, the company's."""

    def __init__(self, english: bool, zone: ZoneInfo) -> None:
        self.english = english
        self._zone = zone

    def say(self, key: str, **values: str) -> str:
        """A sentence of the catalogue."""
        return say(key, self.english, **values)

    def proposed(self, draft: NewTicket) -> str:
        """Everything that would be submitted."""
        lines = [self.say("ticket_please_confirm"), self.say("ticket_subject", text=draft.subject)]
        if draft.description.strip() != draft.subject:
            lines.append(self.say("ticket_description", text=_cut(draft.description)))
        if draft.priority in _PRIORITIES:
            lines.append(self.say("ticket_priority", text=self.say(_PRIORITIES[draft.priority])))
        return "\n".join([*lines, self.say("ticket_how_to_answer")])

    def created(self, ticket: CustomerTicket) -> str:
        """The ticket is there."""
        by = self._when(ticket.resolve_by)
        return self.say("ticket_created", number=ticket.number, subject=ticket.subject, by=by)

    def existing(self, ticket: CustomerTicket) -> str:
        """The conversation has it already."""
        return self.say("ticket_existing", line=self._line(ticket))

    def listed(self, tickets: Sequence[CustomerTicket]) -> str:
        """How the tickets stand."""
        if len(tickets) == 1:
            return self._line(tickets[0])
        lines = [self.say("ticket_listed", count=str(len(tickets))), *map(self._line, tickets[:MAX_LISTED])]
        if (more := len(tickets) - MAX_LISTED) > 0:
            lines.append(self.say("ticket_more", count=str(more)))
        return "\n".join(lines)

    def which(self, tickets: Sequence[CustomerTicket]) -> str:
        """Several could be meant."""
        return "\n".join([self.say("ticket_which"), *map(self._named, tickets[:MAX_LISTED])])

    def pressed(self, ticket: CustomerTicket) -> str:
        """The customer presses."""
        return self._line(ticket) if ticket.state in DONE else self.say("ticket_pressed", line=self._line(ticket))

    def added(self, ticket: CustomerTicket) -> str:
        """The customer's words are there."""
        if ticket.state is TicketState.CLOSED:
            return self._line(ticket)
        return self.say("ticket_added", named=self._named(ticket), state=self.say(_STATES[ticket.state]))

    def withdraw(self, ticket: CustomerTicket) -> str:
        """Asks before."""
        return self.say("ticket_withdraw", named=self._named(ticket))

    def withdrawn(self, ticket: CustomerTicket) -> str:
        """It is closed."""
        return self.say("ticket_withdrawn", named=self._named(ticket))

    def _when(self, moment: datetime) -> str:
        """A time as people say it, in the company's zone; with its year where that is not near."""
        local, far = moment.astimezone(self._zone), abs(moment - datetime.now(UTC)) >= timedelta(days=300)
        return f"{day_said(local.date(), self.english, year=far)} {local:%H:%M}"

    def _named(self, ticket: CustomerTicket) -> str:
        return self.say("ticket_named", number=ticket.number, subject=ticket.subject)

    def _line(self, ticket: CustomerTicket) -> str:
        due = ""
        if ticket.state not in DONE and ticket.state is not TicketState.WAITING:
            late = ticket.resolve_by < datetime.now(UTC)
            due = self.say("ticket_late") if late else self.say("ticket_due", by=self._when(ticket.resolve_by))
        note = self.say("ticket_note", text=_cut(ticket.note)) if ticket.note else ""
        state, since = self.say(_STATES[ticket.state]), self._when(ticket.created_at)
        return self.say("ticket_standing", named=self._named(ticket), state=state, since=since, due=due) + note


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"
