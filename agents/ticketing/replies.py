"""What customers are told of tickets, in the words of either language."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from agents.ticketing.types import DONE, CustomerTicket, NewTicket, TicketState
from agents.ticketing.vocabulary import Vocabulary
from agents.understanding.tickets import Priority

MAX_LISTED, MAX_SHOWN_CHARS = 5, 200


class TicketReplies:
    """The replies that say how a ticket stands. zone: in which times are told, the company's."""

    def __init__(self, words: Vocabulary, zone: ZoneInfo) -> None:
        self.words = words
        self._zone = zone

    def proposed(self, draft: NewTicket) -> str:
        """Everything that would be submitted."""
        words = self.words
        lines = [words.please_confirm, words.subject.format(draft.subject)]
        if draft.description.strip() != draft.subject:
            lines.append(words.description.format(_cut(draft.description)))
        if draft.priority is not Priority.NORMAL:
            lines.append(words.priority.format(words.priorities[draft.priority]))
        return "\n".join([*lines, words.how_to_answer])

    def created(self, ticket: CustomerTicket) -> str:
        """The ticket is there."""
        return self.words.created.format(ticket=ticket, by=self.when(ticket.resolve_by))

    def existing(self, ticket: CustomerTicket) -> str:
        """The conversation has it already."""
        return self.words.existing.format(self._line(ticket))

    def listed(self, tickets: Sequence[CustomerTicket]) -> str:
        """How the tickets stand."""
        if len(tickets) == 1:
            return self._line(tickets[0])
        lines = [self.words.listed.format(len(tickets)), *map(self._line, tickets[:MAX_LISTED])]
        if (more := len(tickets) - MAX_LISTED) > 0:
            lines.append(self.words.more.format(more))
        return "\n".join(lines)

    def which(self, tickets: Sequence[CustomerTicket]) -> str:
        """Several could be meant."""
        return "\n".join([self.words.which, *map(self.words.named.format, tickets[:MAX_LISTED])])

    def pressed(self, ticket: CustomerTicket) -> str:
        """The customer presses."""
        return self._line(ticket) if ticket.state in DONE else self.words.pressed.format(self._line(ticket))

    def added(self, ticket: CustomerTicket) -> str:
        """The customer's words are there."""
        if ticket.state is TicketState.CLOSED:
            return self._line(ticket)
        return self.words.added.format(self.words.named.format(ticket), self.words.states[ticket.state])

    def withdraw(self, ticket: CustomerTicket) -> str:
        """Asks before."""
        return self.words.withdraw.format(self.words.named.format(ticket))

    def withdrawn(self, ticket: CustomerTicket) -> str:
        """It is closed."""
        return self.words.withdrawn.format(self.words.named.format(ticket))

    def when(self, moment: datetime) -> str:
        """A time as people say it, in the company's zone; with its year where that is not near."""
        near = abs(moment - datetime.now(UTC)) < timedelta(days=300)
        return self.words.when(moment.astimezone(self._zone), near)

    def _line(self, ticket: CustomerTicket) -> str:
        words = self.words
        due = ""
        if ticket.state not in DONE and ticket.state is not TicketState.WAITING:
            late = ticket.resolve_by < datetime.now(UTC)
            due = words.late if late else words.due.format(self.when(ticket.resolve_by))
        told = words.note.format(_cut(ticket.note)) if ticket.note else ""
        named, since = words.named.format(ticket), self.when(ticket.created_at)
        return words.standing.format(named, words.states[ticket.state], since, due) + told


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[: MAX_SHOWN_CHARS - 1] + "…"
