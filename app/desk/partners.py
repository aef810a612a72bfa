"""What other features do within a transaction of the desk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.desk.types import DeskMessage, DeskNote, DeskSession, Numbered
    from app.turns.types import Claim
    from app.types import SessionKey


# Opens a ticket within a transaction.
Opener = Callable[["Connection"], "Numbered"]


@dataclass(frozen=True, slots=True)
class Partners:
    """Handed in where the product is put together.

    lock_conversation: opens the conversation where it has no turn yet, and locks it. find_member: returns whose it is
    now, empty for nobody; raises Forbidden. resolve_tickets: resolves those that stood for a person. announce_message
    and announce_note: tell of what staff wrote.
    """

    lock_conversation: Callable[[Connection, SessionKey, Mapping[str, Any], Claim], None]
    find_member: Callable[[Connection, SessionKey, Claim], str]
    resolve_tickets: Callable[[Connection, SessionKey], None]
    announce_message: Callable[[Connection, DeskSession, DeskMessage], None]
    announce_note: Callable[[Connection, SessionKey, DeskNote], None]
