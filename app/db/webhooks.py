"""Webhooks: events are written by the commit that causes them, and handed to every subscription that wants them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from app.db import outbox
from app.db.engine import insert_into
from app.db.models import Webhook, WebhookDelivery, now
from app.db.outbox import Event

KIND = "webhook"
"""Of the outbox events."""
EVENTS = ("handoff.queued", "handoff.resolved", "ticket.created", "gap.detected")
"""What may be subscribed to."""


def emit(connection: Connection, tenant: str, event: str, payload: dict[str, Any]) -> None:
    """Tells the tenant's webhooks of something, if the caller's transaction commits. event: one of EVENTS."""
    envelope = {"id": secrets.token_hex(16), "event": event, "created_at": now().isoformat(), "data": payload}
    outbox.add(connection, [Event(tenant, KIND, envelope)])


def fan_out(connection: Connection, events: Sequence[Event]) -> None:
    """Outbox handler: one delivery for every enabled subscription to an event."""
    rows = [row for event in events for row in _deliveries(connection, event)]
    if rows:
        added = insert_into(connection, WebhookDelivery)
        connection.execute(added.on_conflict_do_nothing(), rows)


def _deliveries(connection: Connection, event: Event) -> list[dict[str, Any]]:
    moment, envelope = now(), event.payload
    wanted = select(Webhook.id, Webhook.events).where(Webhook.tenant_id == event.tenant, Webhook.enabled)
    return [
        {
            "tenant_id": event.tenant,
            "id": secrets.token_hex(16),
            "webhook_id": webhook,
            "event_id": envelope["id"],
            "event": envelope["event"],
            "body": json.dumps(envelope, ensure_ascii=False, separators=(",", ":")),
            "state": "pending",
            "attempts": 0,
            "due_at": moment,
            "status": None,
            "error": "",
            "created_at": moment,
            "updated_at": moment,
        }
        for webhook, events in connection.execute(wanted)
        if envelope["event"] in events
    ]
