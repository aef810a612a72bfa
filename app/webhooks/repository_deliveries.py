"""Deliveries of webhooks: taken by one worker at a time, tried until they arrive or are given up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Select, bindparam, func, select, update

from app.db.base import is_due, now
from app.db.engine import Database
from app.webhooks.tables import Webhook, WebhookDelivery

State = Literal["pending", "delivered", "dead"]
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(hours=1)


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
_ROW = (_TABLE.tenant_id == bindparam("tenant")) & (_TABLE.id == bindparam("delivery"))


class DeliveryRepository:
    """A delivery is leased, not held: no transaction is open while it is sent, and what a killed worker leaves is
    tried again once the lease is over. So it arrives at least once, and no try waits for the disk.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, limit: int, lease: timedelta) -> list[Delivery]:
        """What is due, the oldest first; nobody else gets it before the lease is over."""
        async with self._database.read() as connection:  # most often there is nothing, and writers stay undisturbed
            if (await connection.execute(_select_due(lease, _TABLE.id).limit(1))).first() is None:
                return []
        return await self._database.transact(lambda connection: _claim(connection, limit, lease), durable=False)

    async def settle_results(self, results: Sequence[DeliveryResult]) -> None:
        """Writes how the tries went; those that are left pending wait: 10, 20, 40 … seconds, an hour at most."""
        await self._database.transact(lambda connection: _settle_results(connection, results), durable=False)

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
        query = select(*columns).where(*where).order_by(_TABLE.created_at.desc(), _TABLE.id).limit(limit).offset(offset)
        async with self._database.read() as connection:
            total = (await connection.execute(select(func.count()).select_from(_TABLE).where(*where))).scalar_one()
            return [DeliveryRow(*row) for row in await connection.execute(query)], total

    async def retry_delivery(self, tenant: str, webhook: str, delivery: str) -> bool:
        """Makes a delivery due now, one that was given up too; whether it is there."""
        own = (_TABLE.tenant_id == tenant) & (_TABLE.webhook_id == webhook) & (_TABLE.id == delivery)
        moment = now()
        values = {"state": "pending", "attempts": 0, "due_at": moment, "updated_at": moment}
        async with self._database.write() as connection:
            return bool((await connection.execute(update(_TABLE).where(own).values(values))).rowcount)


def _claim(connection: Connection, limit: int, lease: timedelta) -> list[Delivery]:
    sent = _TABLE.event, _TABLE.event_id, _TABLE.body, _TABLE.attempts
    columns = _TABLE.tenant_id, _TABLE.id, Webhook.url, Webhook.secret, *sent
    query = (
        _select_due(lease, *columns).order_by(_TABLE.due_at).limit(limit).with_for_update(of=_TABLE, skip_locked=True)
    )
    claimed = [Delivery(*row) for row in connection.execute(query)]
    if claimed:
        keys = [{"tenant": item.tenant, "delivery": item.id} for item in claimed]
        connection.execute(update(_TABLE).where(_ROW).values(due_at=now() + lease), keys)
    return claimed


def _select_due(lease: timedelta, *columns: Any) -> Select[Any]:
    """What a webhook that is switched off has waits until it is on again."""
    of = (Webhook.tenant_id == _TABLE.tenant_id) & (Webhook.id == _TABLE.webhook_id)
    due = is_due(_TABLE.due_at, LONGEST_PAUSE) | ((_TABLE.attempts == 0) & is_due(_TABLE.due_at, lease))
    return select(*columns).join(Webhook, of).where(_TABLE.state == "pending", due, Webhook.enabled.is_(True))


def _settle_results(connection: Connection, results: Sequence[DeliveryResult]) -> None:
    for result in results:
        attempts, moment = result.delivery.attempts + 1, now()
        pause = min(FIRST_PAUSE * 2 ** min(result.delivery.attempts, 12), LONGEST_PAUSE)
        values: dict[str, Any] = {
            "state": result.state,
            "attempts": attempts,
            "due_at": moment + pause,
            "status": result.status,
            "error": result.error,
            "updated_at": moment,
        }
        key = {"tenant": result.delivery.tenant, "delivery": result.delivery.id}
        connection.execute(update(_TABLE).where(_ROW).values(values), key)
