"""What several features share."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Side(StrEnum):
    """Of a conversation between two."""

    CUSTOMER = "customer"
    STAFF = "staff"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A session id means something only together with its tenant."""

    tenant: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What somebody shows for a conversation: the member it is proved to be, and the secret of the session."""

    caller: str = ""
    token: str = field(default="", repr=False)
    # By a key that needs no proof, because it stays with the company, which knows its customers.
    trusted: bool = False
