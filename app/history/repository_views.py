"""Searches that staff look at again."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, func, insert, select

from app.db.base import now
from app.db.engine import Database
from app.history.tables import SavedViewRow as Table
from app.history.types import SavedView
from app.ids import create_id

# Views of a tenant.
MOST = 200


class SavedViews:
    """A tenant's saved views."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_visible(self, tenant: str, agent_id: str) -> list[SavedView]:
        """Lists the views of everybody and those of this person, by name."""
        mine = Table.agent_id.in_(["", agent_id])
        columns = Table.id, Table.agent_id, Table.name, Table.filter, Table.created_at
        query = select(*columns).where(Table.tenant_id == tenant, mine).order_by(Table.name, Table.id)
        return [SavedView(*row) for row in await self._database.fetch(query)]

    async def add(self, tenant: str, agent_id: str, name: str, wanted: dict[str, Any]) -> SavedView | None:
        """Keeps a view; None where the tenant has MOST."""
        view = SavedView(create_id(), agent_id, name, wanted, now())
        own = select(func.count()).select_from(Table).where(Table.tenant_id == tenant)
        async with self._database.write() as connection:
            if (await connection.execute(own)).scalar_one() >= MOST:
                return None
            row = {"id": view.id, "agent_id": agent_id, "name": name, "filter": wanted, "created_at": view.created_at}
            await connection.execute(insert(Table).values(tenant_id=tenant, **row))
        return view

    async def drop(self, tenant: str, id: str) -> bool:
        """Deletes a view, whether it was there."""
        return await self._database.execute(delete(Table).where(Table.tenant_id == tenant, Table.id == id)) == 1
