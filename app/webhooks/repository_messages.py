"""Messages as webhooks learn of them. Most tenants have none for messages, so theirs are not written at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, bindparam, select

from app.request_ids import set_request_id
from app.webhooks.events import WebhookEvent, emit_event
from app.webhooks.tables import Webhook

if TYPE_CHECKING:
    from app.turns.types import NewTurn


CUSTOMER, BOT, STAFF = WebhookEvent.MESSAGE_CUSTOMER, WebhookEvent.MESSAGE_BOT, WebhookEvent.MESSAGE_STAFF
# Made once: every commit of turns asks it, and to make it took two thirds of the time of the asking.
_SUBSCRIBED = select(Webhook.tenant_id, Webhook.events).where(
    Webhook.tenant_id.in_(bindparam("tenants", expanding=True)), Webhook.enabled.is_(True)
)


def emit_turns(connection: Connection, turns: Sequence[NewTurn]) -> None:
    """Tells of what customers said and what they were told, in the order of the turns."""
    wanted = _load_subscribed(connection, {turn.tenant for turn in turns})
    for turn in turns:
        if wanted.isdisjoint({(turn.tenant, CUSTOMER), (turn.tenant, BOT)}):
            continue
        with set_request_id(turn.trace_id):
            about = _describe_turn(turn)
            if (turn.tenant, CUSTOMER) in wanted:
                emit_event(connection, turn.tenant, CUSTOMER, about | {"text": turn.utterance.original})
            if (turn.tenant, BOT) in wanted:
                said = {"text": turn.reply, "outcome": turn.outcome, "agent": turn.agent}
                emit_event(connection, turn.tenant, BOT, about | said)


def emit_staff_message(connection: Connection, tenant: str, message: dict[str, Any]) -> None:
    """Tells of a message of staff that is new. message: as webhooks send it."""
    if (tenant, STAFF) in _load_subscribed(connection, {tenant}):
        emit_event(connection, tenant, STAFF, message)


def _load_subscribed(connection: Connection, tenants: set[str]) -> set[tuple[str, str]]:
    """Returns tenant and event of all enabled subscriptions."""
    found = connection.execute(_SUBSCRIBED, {"tenants": sorted(tenants)})
    return {(tenant, event) for tenant, events in found for event in events}


def _describe_turn(turn: NewTurn) -> dict[str, Any]:
    return {
        "session_id": turn.session_id,
        "message_id": turn.id,
        "user_id": turn.user_id,
        "verified": bool(turn.claim.caller),
        "channel": turn.channel,
        "created_at": turn.created_at.isoformat(),
    }
