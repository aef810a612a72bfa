"""Deliveries of webhooks: taken by one worker at a time, tried until they arrive or are given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, select, update

from app.db.base import now
from app.db.engine import Database
from app.db.leased_queue import Backoff, LeasedQueue
from app.webhooks.tables import Webhook, WebhookDelivery

State = Literal["pending", "delivered", "dead"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is sent where. `attempts` are those before this one."""

    tenant: str
    id: str
    url: str
    secret: str
    event: str
    event_id: str
    body: str
    attempts: int

    @property
    def key(self) -> tuple[str, str]:
        """The key of its row."""
        return self.tenant, self.id


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery as it is listed; `status` and `error` are of the last try."""

    id: str
    event: str
    event_id: str
    state: State
    attempts: int
    status: int | None
    error: str
    due_at: datetime
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """How a try of a delivery went."""

    delivery: Delivery
    state: State
    status: int | None
    error: str


_TABLE = WebhookDelivery
_BACKOFF = Backoff(timedelta(seconds=10))
_QUEUE = LeasedQueue(_TABLE, at_work=_TABLE.state == "pending", lease=_TABLE.due_at)


class DeliveryRepository:
    """A delivery is leased, not held: no transaction is open while it is sent, and what a killed worker leaves is
    tried again once the lease is over. So it arrives at least once, and no try waits for the disk.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, limit: int, worker: str) -> list[Delivery]:
        """Claims what is due, the oldest first. What a webhook that is switched off has waits until it is on again."""
        sent = Webhook.url, Webhook.secret, _TABLE.event, _TABLE.event_id, _TABLE.body, _TABLE.attempts
        own = (Webhook.tenant_id == _TABLE.tenant_id) & (Webhook.id == _TABLE.webhook_id) & Webhook.enabled.is_(True)
        query = select(_TABLE.tenant_id, _TABLE.id, *sent).join(Webhook, own)
        query = query.where(_QUEUE.at_work, _BACKOFF.match_due(_TABLE.due_at)).order_by(_TABLE.due_at).limit(limit)
        return [Delivery(*row) for row in await _QUEUE.claim_due(self._database, query, worker)]

    async def renew_leases(self, deliveries: Sequence[Delivery], worker: str) -> bool:
        """Renews the leases on deliveries; False where none is the worker's any more."""
        return await _QUEUE.renew(self._database, [delivery.key for delivery in deliveries], worker)

    async def settle_results(self, results: Sequence[DeliveryResult], worker: str) -> None:
        """Writes how the tries went; those that are left pending wait: 10, 20, 40 … seconds, an hour at most."""
        await self._database.transact(lambda connection: _settle_results(connection, results, worker), durable=False)

    async def load_page(
        self, tenant: str, webhook: str, limit: int, state: State | None = None, event: str = "", offset: int = 0
    ) -> tuple[list[DeliveryRow], int]:
        """Deliveries of a subscription, the latest first, and how many there are."""
        columns = [getattr(_TABLE, name) for name in DeliveryRow.__dataclass_fields__]
        where = [_TABLE.tenant_id == tenant, _TABLE.webhook_id == webhook]
        if state is not None:
            where.append(_TABLE.state == state)
        if event:
            where.append(_TABLE.event == event)
        query = select(*columns).where(*where).order_by(_TABLE.created_at.desc(), _TABLE.id)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [DeliveryRow(*row) for row in rows], total

    async def retry_delivery(self, tenant: str, webhook: str, delivery: str) -> bool:
        """Makes a delivery due now, one that was given up too; whether it is there."""
        own = (_TABLE.tenant_id == tenant) & (_TABLE.webhook_id == webhook) & (_TABLE.id == delivery)
        moment = now()
        values = {"state": "pending", "attempts": 0, "due_at": moment, "updated_at": moment}
        return bool(await self._database.execute(update(_TABLE).where(own).values(values)))


def _settle_results(connection: Connection, results: Sequence[DeliveryResult], worker: str) -> None:
    for result in results:
        delivery, moment = result.delivery, now()
        values: dict[str, Any] = {
            "state": result.state,
            "attempts": delivery.attempts + 1,
            "due_at": moment + _BACKOFF.compute_pause(delivery.attempts),
            "status": result.status,
            "error": result.error,
            "updated_at": moment,
        }
        _QUEUE.release(connection, delivery.key, worker, values)
