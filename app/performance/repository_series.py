"""Counters by minute and hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from app.db.engine import Database, insert_into
from app.performance.tables import MetricPoint


class SeriesRepository:
    """Counters only grow by what is added, so several processes write the same ones."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, counts: Mapping[str, Mapping[str, int]], points: Sequence[tuple[str, datetime]]) -> None:
        """Adds counts (tenant -> name -> number) to each of the points (step and beginning)."""
        rows = [
            {"tenant_id": tenant, "step": step, "at": at, "name": name, "value": value}
            for step, at in points
            for tenant, named in sorted(counts.items())
            for name, value in sorted(named.items())
        ]

        def work(connection: Connection) -> None:
            table, added = MetricPoint, insert_into(connection, MetricPoint)
            key = [table.tenant_id, table.step, table.at, table.name]
            values = {"value": table.value + added.excluded.value}
            connection.execute(added.on_conflict_do_update(index_elements=key, set_=values), rows)

        await self._database.transact(work, durable=False)

    async def prune(self, before: Mapping[str, datetime]) -> None:
        """Deletes what is older, by step."""
        table = MetricPoint

        def work(connection: Connection) -> None:
            for step, moment in before.items():
                connection.execute(delete(table).where(table.step == step, table.at < moment))

        await self._database.transact(work, durable=False)

    async def read(self, tenant: str, step: str, start: datetime, end: datetime) -> dict[datetime, Counter[str]]:
        """Reads a tenant's counters by the beginning of their points, which lie in [start, end), the oldest first."""
        table = MetricPoint
        query = (
            select(table.at, table.name, table.value)
            .where(table.tenant_id == tenant, table.step == step, table.at >= start, table.at < end)
            .order_by(table.at)
        )
        found: dict[datetime, Counter[str]] = {}
        for at, name, value in await self._database.fetch(query):
            found.setdefault(at, Counter())[name] = value
        return found
