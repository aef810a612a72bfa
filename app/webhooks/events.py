"""Events that webhooks tell of: each is written by the commit that causes it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from app.db import outbox
from app.db.base import now
from app.db.outbox import PendingEvent
from app.request_ids import get_request_id

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Of the outbox events.
KIND = "webhook"


class WebhookEvent(StrEnum):
    """What may be subscribed to."""

    MESSAGE_CUSTOMER = "message.customer"
    MESSAGE_BOT = "message.bot"
    MESSAGE_STAFF = "message.staff"
    HANDOFF_QUEUED = "handoff.queued"
    HANDOFF_ACCEPTED = "handoff.accepted"
    HANDOFF_RESOLVED = "handoff.resolved"
    HANDOFF_LEFT = "handoff.left"
    HANDOFF_CLOSED = "handoff.closed"
    TICKET_CREATED = "ticket.created"
    TICKET_UPDATED = "ticket.updated"
    FEEDBACK_GIVEN = "feedback.given"
    GAP_DETECTED = "gap.detected"
    DOCUMENT_READY = "document.ready"
    DOCUMENT_FAILED = "document.failed"


def emit_event(connection: Connection, tenant: str, event: str, payload: dict[str, Any]) -> None:
    """Tells the tenant's webhooks of something, if the caller's transaction commits. event: a WebhookEvent."""
    about = {"id": secrets.token_hex(16), "event": str(event), "created_at": now().isoformat()}
    envelope = about | {"request_id": get_request_id(), "data": payload}
    outbox.add(connection, [PendingEvent(tenant, KIND, envelope)])


def get_subject(told: Mapping[str, Any]) -> str:
    """Returns what the data of an event is about: `session:ID`, `gap:ID`, or empty."""
    if told.get("session_id"):
        return build_session_subject(told["session_id"])
    return build_gap_subject(told["gap_id"]) if told.get("gap_id") else ""


def build_session_subject(session_id: str) -> str:
    """Returns the subject of a session, as `get_subject` does."""
    return f"session:{session_id}"


def build_gap_subject(gap: str) -> str:
    """Returns the subject of a gap, as `get_subject` does."""
    return f"gap:{gap}"
