"""How much a tenant used on each day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection, select

from app.db.base import now
from app.db.engine import Database, insert_into
from app.db.outbox import PendingEvent
from app.performance.tables import UsageCounter


class UsageRepository:
    """Counters by day (UTC)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_days(self, tenant: str, days: int) -> dict[str, dict[str, int]]:
        """Loads day -> counters of the last `days` days, today included, the newest first; days without any
        are absent.
        """
        first = (now() - timedelta(days=days - 1)).date().isoformat()
        query = (
            select(UsageCounter.day, UsageCounter.name, UsageCounter.value)
            .where(UsageCounter.tenant_id == tenant, UsageCounter.day >= first)
            .order_by(UsageCounter.day.desc(), UsageCounter.name)
        )
        found: dict[str, dict[str, int]] = {}
        for day, name, value in await self._database.fetch(query):
            found.setdefault(day, {})[name] = value
        return found


def count(connection: Connection, events: Sequence[PendingEvent]) -> None:
    """Adds the `counts` of events (name -> number) to the counters of their `day`."""
    sums: Counter[tuple[str, str, str]] = Counter()
    for event in events:
        for name, value in event.payload["counts"].items():
            sums[event.tenant, event.payload["day"], name] += value
    rows = [{"tenant_id": key[0], "day": key[1], "name": key[2], "value": sums[key]} for key in sorted(sums)]
    if not rows:
        return
    added = insert_into(connection, UsageCounter)
    table = UsageCounter
    connection.execute(
        added.on_conflict_do_update(
            index_elements=[table.tenant_id, table.day, table.name],
            set_={"value": table.value + added.excluded.value},
        ),
        rows,
    )
