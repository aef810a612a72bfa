"""The looks of tenants' widgets in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from app.db.base import now
from app.db.engine import Database, insert_into
from app.widget.tables import WidgetLook as Table

_STORED = select(Table.look).where(Table.tenant_id == bindparam("tenant"))


class WidgetLooks:
    """One a tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, tenant: str) -> dict[str, Any]:
        """Empty where nothing was ever chosen."""
        wanted = {"tenant": tenant}
        stored = await self._database.run_in_reader(
            lambda connection: connection.execute(_STORED, wanted).scalar_one_or_none()
        )
        return stored or {}

    async def write(self, tenant: str, look: dict[str, Any]) -> None:
        """Takes the place of the one before."""
        values = {"look": look, "updated_at": now()}
        async with self._database.write() as connection:
            row = insert_into(connection, Table).values(tenant_id=tenant, **values)
            await connection.execute(row.on_conflict_do_update(index_elements=[Table.tenant_id], set_=values))
