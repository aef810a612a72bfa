"""The connected model in SQL."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

from sqlalchemy import Connection, select

from app.auth.principal import DEFAULT_TENANT
from app.connection.tables import ModelConnectionRow as Table
from app.connection.types import StoredConnection
from app.db.engine import Database, build_upsert

_COLUMNS = tuple(getattr(Table, item.name) for item in fields(StoredConnection))
_STORED = select(*_COLUMNS).where(Table.tenant_id == DEFAULT_TENANT)


class ConnectionRepository:
    """One for the whole installation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> StoredConnection:
        """Reads what is connected by now."""
        return await self._database.run_in_reader(_read)

    async def write(self, connection: StoredConnection) -> StoredConnection:
        """Takes the place of what was connected; with the version that it got."""

        def write(sql: Connection) -> StoredConnection:
            made = replace(connection, version=_read(sql).version + 1)
            sql.execute(build_upsert(sql, Table, {"tenant_id": DEFAULT_TENANT} | asdict(made)))
            return made

        return await self._database.transact(write, erases=True)


def _read(connection: Connection) -> StoredConnection:
    row = connection.execute(_STORED).first()
    return StoredConnection() if row is None else StoredConnection(**row._mapping)
