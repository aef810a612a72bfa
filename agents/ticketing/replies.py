"""Writes what customers read about tickets, with the sentences of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from agents.answering.date_phrases import format_day
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
# Told where it is not the usual one.
_PRIORITIES = {
    Priority.LOW: "ticket_priority_low",
    Priority.HIGH: "ticket_priority_high",
    Priority.URGENT: "ticket_priority_urgent",
}


class TicketReplies:
    """`zone`: the company's, in which times are written."""

    def __init__(self, english: bool, zone: ZoneInfo) -> None:
        self.english = english
        self._zone = zone

    def say(self, sentence: str, **values: str) -> str:
        """Returns the sentence of the catalogue with this key."""
        return say(sentence, self.english, **values)

    def write_proposal(self, draft: NewTicket) -> str:
        """Returns all that would be submitted."""
        lines = [self.say("ticket_please_confirm"), self.say("ticket_subject", text=draft.subject)]
        if draft.description.strip() != draft.subject:
            lines.append(self.say("ticket_description", text=_cut_text(draft.description)))
        if draft.priority in _PRIORITIES:
            lines.append(self.say("ticket_priority", text=self.say(_PRIORITIES[draft.priority])))
        return "\n".join([*lines, self.say("ticket_how_to_answer")])

    def say_about(self, sentence: str, ticket: CustomerTicket | None) -> str:
        """Returns the sentence of the catalogue with this key, about a ticket; that there is none, without a ticket."""
        return self.say(sentence, **self._build_values(ticket)) if ticket else self.say("ticket_not_found")

    def write_urged(self, ticket: CustomerTicket | None) -> str:
        """Returns the reply to a customer who urges; a finished ticket is only listed."""
        done = ticket is not None and ticket.state in DONE
        return self.list_tickets([ticket]) if ticket and done else self.say_about("ticket_pressed", ticket)

    def list_tickets(self, tickets: Sequence[CustomerTicket]) -> str:
        """Returns the state of the tickets."""
        lines = [self._build_values(ticket)["line"] for ticket in tickets[:MAX_LISTED]]
        if len(tickets) == 1:
            return lines[0]
        if (more := len(tickets) - MAX_LISTED) > 0:
            lines.append(self.say("ticket_more", count=str(more)))
        return "\n".join([self.say("ticket_listed", count=str(len(tickets))), *lines])

    def ask_which(self, tickets: Sequence[CustomerTicket]) -> str:
        """Asks which of several tickets is meant."""
        return "\n".join(
            [self.say("ticket_which"), *(self._build_values(one)["named"] for one in tickets[:MAX_LISTED])]
        )

    def _build_values(self, ticket: CustomerTicket) -> dict[str, str]:
        """Returns the values of a ticket for the sentences."""
        values = {
            "number": ticket.number,
            "subject": ticket.subject,
            "state": self.say(_STATES[ticket.state]),
            "since": self._format_time(ticket.created_at),
            "by": self._format_time(ticket.resolve_by),
            "due": "",
        }
        values["named"] = self.say("ticket_named", **values)
        if ticket.state not in DONE and ticket.state is not TicketState.WAITING:
            values["due"] = self.say("ticket_late" if ticket.resolve_by < datetime.now(UTC) else "ticket_due", **values)
        note = self.say("ticket_note", text=_cut_text(ticket.note)) if ticket.note else ""
        return values | {"line": self.say("ticket_standing", **values) + note}

    def _format_time(self, moment: datetime) -> str:
        """Returns a time in the company's zone, with its year where that is not near."""
        local, far = moment.astimezone(self._zone), abs(moment - datetime.now(UTC)) >= timedelta(days=300)
        return f"{format_day(local.date(), self.english, year=far)} {local:%H:%M}"


def _cut_text(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"
