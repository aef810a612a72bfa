"""An administrative action: who, when, what, of which tenant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from app.db.base import now
from app.ids import create_id

COMMAND_LINE = "scripts"
"""Who acts on the command line, of whom nothing else is known."""
MAX_TARGET_CHARS = 200
PERSONAL = frozenset({"session_id"})


class AuditOutcome(StrEnum):
    """What came of it: done, refused for what was asked (4xx), or failed on the server's side (5xx)."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AuditAction:
    """actor_id: of a key, empty on this machine without keys; actor: the key's name; action: the operation as the
    OpenAPI document calls it; target: what stands in its path; outcome: None while it is not known.
    """

    tenant: str
    actor_id: str
    actor: str
    action: str
    target: Mapping[str, str]
    request_id: str = ""
    outcome: AuditOutcome | None = None
    id: str = field(default_factory=create_id)
    at: datetime = field(default_factory=now)


def bounded(target: Mapping[str, object]) -> dict[str, str]:
    """Ids of a path as they are kept; of a conversation, which its customer may have named and which may be deleted, a
    digest: whoever knows the id finds it.
    """
    return {
        name: _digest(str(value)) if name in PERSONAL else str(value)[:MAX_TARGET_CHARS]
        for name, value in target.items()
    }


def _digest(value: str) -> str:
    return sha256(value.encode()).hexdigest()[:32]
