"""Reads and deletes what is older than it may be; writers wait for a small batch at most."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from app.db.engine import Database
from app.retention.repository_growing_tables import GrowingTable
from app.retention.tables import RetentionPeriod

# Rows of one transaction: a hundred conversations of ten turns take some 20 ms.
BATCH = 100


class RetentionRepository:
    """Of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_periods(self) -> Mapping[tuple[str, str], int]:
        """Days by tenant and kind, where a tenant has its own."""
        query = select(RetentionPeriod.tenant_id, RetentionPeriod.kind, RetentionPeriod.days)
        return {(row.tenant_id, row.kind): row.days for row in await self._database.fetch(query)}

    async def find_period(self, tenant: str, kind: str) -> int | None:
        """Days of a tenant that has its own."""
        return (await self.load_periods()).get((tenant, kind))

    async def set_period(self, tenant: str, kind: str, days: int | None) -> None:
        """Gives a tenant its own period, or with None the common one again."""
        table = RetentionPeriod
        if days is None:
            await self._database.execute(delete(table).where(table.tenant_id == tenant, table.kind == kind))
        else:
            await self._database.put_row(table, {"tenant_id": tenant, "kind": kind, "days": days})

    async def count_rows(self, growing: GrowingTable, tenant: str = "") -> list[tuple[str, int, datetime | str | None]]:
        """Returns tenant, number of rows and the oldest of them, for every tenant that has any, or for
        `tenant` alone.
        """
        owner = growing.table.tenant_id  # type: ignore[attr-defined]
        query = select(owner, func.count(), func.min(growing.since)).group_by(owner).order_by(owner)
        found = await self._database.fetch(query.where(owner == tenant) if tenant else query)
        return [(row[0], row[1], row[2]) for row in found]

    async def count_expired(self, growing: GrowingTable, tenant: str, before: datetime) -> int:
        """Counts the rows that may be deleted."""
        owner = growing.table.tenant_id  # type: ignore[attr-defined]
        query = select(func.count()).select_from(growing.table).where(owner == tenant, growing.match_expired(before))
        return int(await self._database.fetch_value(query))

    async def remove(self, growing: GrowingTable, tenant: str, before: datetime) -> int:
        """Deletes at most `BATCH` of them in a transaction of its own, and returns how many."""
        return await self._database.transact(
            lambda connection: _remove(connection, growing, tenant, before), erases=True
        )


def _remove(connection: Connection, growing: GrowingTable, tenant: str, before: datetime) -> int:
    owner = growing.table.tenant_id  # type: ignore[attr-defined]
    query = (
        select(*growing.key).where(owner == tenant, growing.match_expired(before)).order_by(*growing.key).limit(BATCH)
    )
    keys = [tuple(row) for row in connection.execute(query)]
    if keys:
        growing.delete(connection, tenant, keys)
    return len(keys)
