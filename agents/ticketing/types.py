"""The vocabulary of tickets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from agents.types import SenderId
from agents.understanding.tickets import Category, Priority


class TicketState(StrEnum):
    """Where a ticket stands; WAITING is for the customer."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    WAITING = "waiting"
    RESOLVED = "resolved"
    CLOSED = "closed"
    REOPENED = "reopened"


DONE = frozenset({TicketState.RESOLVED, TicketState.CLOSED})


@dataclass(frozen=True, slots=True)
class NewTicket:
    """What is to be done, in the customer's words."""

    subject: str
    description: str
    category: Category = Category.OTHER
    priority: Priority = Priority.NORMAL


@dataclass(frozen=True, slots=True)
class CustomerTicket:
    """A ticket as its customer may see it. `note` is the last thing that staff said of it, empty for nothing yet."""

    number: str
    subject: str
    state: TicketState
    priority: Priority
    created_at: datetime
    resolve_by: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class TicketOwner:
    """Whose tickets are meant: those of a conversation, and those of a member who proved who it is."""

    session: str
    caller: str = ""
    # By whom a new one is counted.
    sender: SenderId = SenderId()  # noqa: RUF009 - frozen


class Tickets(Protocol):
    """The tickets of one tenant, as customers reach them."""

    async def open(self, owner: TicketOwner, ticket: NewTicket) -> tuple[CustomerTicket, bool] | None:
        """Returns the ticket, and whether it is new: a subject has one open ticket in a conversation. None where the
        customer has opened too many.
        """

    async def find_tickets(self, owner: TicketOwner, number: str = "") -> Sequence[CustomerTicket]:
        """Returns the owner's tickets, the latest first, or the one with the number; never those of others."""

    async def add(self, owner: TicketOwner, number: str, text: str) -> CustomerTicket | None:
        """Adds the customer's words; a ticket that waited for them continues. None when the owner has no such
        ticket.
        """

    async def urge(self, owner: TicketOwner, number: str) -> CustomerTicket | None:
        """Records that the customer urges; None when the owner has no such ticket."""

    async def close(self, owner: TicketOwner, number: str) -> CustomerTicket | None:
        """Closes a ticket that the customer no longer needs; None when the owner has no such ticket."""
