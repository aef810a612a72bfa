"""Tickets without a database."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from agents.ticketing.types import DONE, CustomerTicket, NewTicket, TicketOwner, TicketState

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@dataclass(slots=True)
class Kept:
    """A ticket, whose it is, and what was added to it."""

    owner: TicketOwner
    ticket: CustomerTicket
    new: NewTicket
    words: list[str]


class MemoryTickets:
    """See `agents.ticketing.types.Tickets`."""

    def __init__(self) -> None:
        self.kept: list[Kept] = []

    async def open(self, owner: TicketOwner, ticket: NewTicket) -> tuple[CustomerTicket, bool]:
        for kept in self._of(owner):
            if kept.ticket.subject == ticket.subject and kept.ticket.state not in DONE:
                return kept.ticket, False
        number = f"TK260301{len(self.kept):06d}"
        due = datetime.now(UTC) + timedelta(hours=48)
        made = CustomerTicket(number, ticket.subject, TicketState.OPEN, ticket.priority, START, due)
        self.kept.append(Kept(owner, made, ticket, []))
        return made, True

    async def find_tickets(self, owner: TicketOwner, number: str = "") -> list[CustomerTicket]:
        return [kept.ticket for kept in self._of(owner) if number in ("", kept.ticket.number)][::-1]

    async def add(self, owner: TicketOwner, number: str, text: str) -> CustomerTicket | None:
        return self._change(owner, number, text)

    async def urge(self, owner: TicketOwner, number: str) -> CustomerTicket | None:
        return self._change(owner, number, "催办")

    async def close(self, owner: TicketOwner, number: str) -> CustomerTicket | None:
        return self._change(owner, number, "关闭", TicketState.CLOSED)

    def _of(self, owner: TicketOwner) -> list[Kept]:
        return [
            kept
            for kept in self.kept
            if (owner.session and kept.owner.session == owner.session)
            or (owner.caller and kept.owner.caller == owner.caller)
        ]

    def _change(
        self, owner: TicketOwner, number: str, words: str, state: TicketState | None = None
    ) -> CustomerTicket | None:
        for kept in self._of(owner):
            if kept.ticket.number == number:
                kept.words.append(words)
                kept.ticket = replace(kept.ticket, state=state or kept.ticket.state)
                return kept.ticket
        return None
