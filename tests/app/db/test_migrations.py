from __future__ import annotations

import asyncio

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from app.db.engine import Database
from app.db.migrate import upgrade
from app.db.models import Base


async def test_migrations_build_exactly_the_models(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        return list(compare_metadata(MigrationContext.configure(connection), Base.metadata))

    async with database.read() as connection:
        assert await connection.run_sync(differences) == []


async def test_every_table_has_the_tenant_first_in_its_key() -> None:
    for table in Base.metadata.sorted_tables:
        assert next(iter(table.primary_key.columns)).name == "tenant_id", table.name
        for constraint in table.foreign_key_constraints:
            assert constraint.column_keys[0] == "tenant_id", table.name


async def test_processes_that_start_together_migrate_once(url: str) -> None:
    databases = [Database(url) for _ in range(3)]
    await asyncio.gather(*(upgrade(database) for database in databases))
    for database in databases:
        await database.close()
