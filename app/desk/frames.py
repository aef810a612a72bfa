"""Messages of the desk as they stand in the frames of WebSockets."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeGuard

from app.desk.api import MAX_SEQ
from app.desk.types import DeskMessage


def is_seq(value: object) -> TypeGuard[int]:
    """Whether a client may have this number of a message."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEQ


def build_message_body(message: DeskMessage) -> dict[str, Any]:
    """Builds a message as it stands in frames."""
    return asdict(message) | {"created_at": message.created_at.isoformat()}
