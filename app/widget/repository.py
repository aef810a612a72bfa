"""The appearance of tenants' widgets in SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from app.db.base import now
from app.db.engine import Database
from app.widget.tables import WidgetLook as Table

_STORED_LOOK = select(Table.look).where(Table.tenant_id == bindparam("tenant"))


class WidgetRepository:
    """Stores one look per tenant."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_look(self, tenant: str) -> dict[str, Any]:
        """Returns the look of a tenant; empty if none was saved."""
        wanted = {"tenant": tenant}
        stored = await self._database.fetch_value(_STORED_LOOK, wanted)
        return stored or {}

    async def write_look(self, tenant: str, look: dict[str, Any]) -> None:
        """Saves the look of a tenant; it replaces the earlier one."""
        await self._database.put_row(Table, {"tenant_id": tenant, "look": look, "updated_at": now()})
