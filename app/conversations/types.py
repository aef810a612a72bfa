"""The vocabulary of whose a conversation is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose a conversation is, as it is stored: the first member who was proved, and the digest of the session's
    secret, which counts until `expires`. Empty for nobody, and for none.
    """

    caller: str = ""
    digest: str = ""
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class OpenedConversation:
    """A conversation that was opened ahead of its first turn. token: its secret, which counts until `expires`, and
    longer where it is used.
    """

    session_id: str
    token: str = field(repr=False)
    expires: datetime


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One question and its reply. `standalone` is the question as it was searched; `response` what was sent.
    `rows_of` is the member whose business data it holds, empty for none.
    """

    id: str
    question: str
    standalone: str
    reply: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
    rows_of: str = ""
    # See `DialogueState.to_json`.
    state: dict[str, Any] = field(default_factory=dict)
    # See `Attachment.build_brief`.
    attachments: Sequence[dict[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """What of a turn tells whether the knowledge base answered it; see `TurnRow`."""

    standalone: str
    outcome: str
    response: dict[str, Any]
    created_at: datetime
