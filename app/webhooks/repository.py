"""Webhooks: events are written by the commit that causes them, and handed to every subscription that wants them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from app.db import outbox
from app.db.base import now
from app.db.engine import Database, insert_into
from app.db.outbox import PendingEvent
from app.webhooks.events import KIND, get_subject
from app.webhooks.tables import Webhook, WebhookDelivery


@dataclass(frozen=True, slots=True)
class Subscription:
    """A webhook of a tenant."""

    id: str
    url: str
    secret: str
    events: list[str]
    description: str
    enabled: bool
    created_at: datetime


class WebhookRepository:
    """A tenant's webhooks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, tenant: str, subscription: Subscription, most: int) -> bool:
        """Adds a webhook; False where the tenant has `most` of them."""
        there = select(func.count()).select_from(Webhook).where(Webhook.tenant_id == tenant)
        async with self._database.write() as connection:
            if (await connection.execute(there)).scalar_one() >= most:
                return False
            await connection.execute(insert(Webhook).values(tenant_id=tenant, **asdict(subscription)))
        return True

    async def list_all(self, tenant: str) -> list[Subscription]:
        """Lists all webhooks, the oldest first."""
        query = select(*_COLUMNS).where(Webhook.tenant_id == tenant).order_by(Webhook.created_at, Webhook.id)
        return [Subscription(*row) for row in await self._database.fetch(query)]

    async def get(self, tenant: str, webhook: str) -> Subscription | None:
        """Returns the webhook of that id; None without one."""
        row = await self._database.fetch_first(select(*_COLUMNS).where(_match_webhook(tenant, webhook)))
        return None if row is None else Subscription(*row)

    async def update(self, tenant: str, webhook: str, values: dict[str, Any]) -> None:
        """Changes what is given."""
        await self._database.execute(update(Webhook).where(_match_webhook(tenant, webhook)).values(values))

    async def delete(self, tenant: str, webhook: str) -> bool:
        """Removes it with its deliveries; whether it was there."""
        return bool(await self._database.execute(delete(Webhook).where(_match_webhook(tenant, webhook))))


def create_deliveries(connection: Connection, events: Sequence[PendingEvent]) -> None:
    """Creates, as an outbox handler, one delivery for every enabled subscription to an event."""
    rows = [row for event in events for row in _build_deliveries(connection, event)]
    if rows:
        added = insert_into(connection, WebhookDelivery)
        connection.execute(added.on_conflict_do_nothing(), rows)


def _build_deliveries(connection: Connection, event: PendingEvent) -> list[dict[str, Any]]:
    moment, envelope = now(), event.payload
    wanted = select(Webhook.id, Webhook.events).where(Webhook.tenant_id == event.tenant, Webhook.enabled.is_(True))
    return [
        {
            "tenant_id": event.tenant,
            "id": secrets.token_hex(16),
            "webhook_id": webhook,
            "event_id": envelope["id"],
            "event": envelope["event"],
            "about": get_subject(envelope["data"]),
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


_COLUMNS = tuple(getattr(Webhook, field.name) for field in fields(Subscription))


def _match_webhook(tenant: str, webhook: str) -> ColumnElement[bool]:
    return (Webhook.tenant_id == tenant) & (Webhook.id == webhook)


def forget_subjects(connection: Connection, tenant: str, gone: Collection[str]) -> None:
    """Deletes what webhooks are told, or were, of what is gone; see `events.get_subject`."""
    for key, payload in outbox.load_pending(connection, tenant, KIND):
        if get_subject(payload["data"]) in gone:
            outbox.drop_event(connection, tenant, key)
    table = WebhookDelivery
    connection.execute(delete(table).where(table.tenant_id == tenant, table.about.in_(gone)))
