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

    lock: opens the conversation where it has no turn yet, and locks it. member: whose it is now, empty for nobody;
    raises Forbidden. served: resolves the tickets that stood for a person. said: told of a message of staff; noted: of
    a note.
    """

    lock: Callable[[Connection, SessionKey, Mapping[str, Any], Claim], None]
    member: Callable[[Connection, SessionKey, Claim], str]
    served: Callable[[Connection, SessionKey], None]
    said: Callable[[Connection, DeskSession, DeskMessage], None]
    noted: Callable[[Connection, SessionKey, DeskNote], None]
