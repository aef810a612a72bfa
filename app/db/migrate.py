"""Brings a database to the schema of this code, at start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from app.db.engine import Database

MIGRATIONS = Path(__file__).with_name("migrations")
_LOCK = 7_316_020_411
"""Of PostgreSQL's advisory locks, the one that stands for this schema."""


@asynccontextmanager
async def migrated(url: str) -> AsyncIterator[Database]:
    """A database of this code's schema; closed at the end."""
    database = Database(url)
    try:
        await upgrade(database)
        yield database
    finally:
        await database.close()


async def upgrade(database: Database) -> None:
    """Runs the migrations that are missing, all in one transaction; several processes may call it at once."""
    async with database.write() as connection:
        await connection.run_sync(_upgrade)


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # on SQLite the transaction itself lets one process in at a time
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if MigrationContext.configure(connection).get_current_revision() != _head():
        command.upgrade(configured(connection), "head")


@cache
def _head() -> str | None:
    return ScriptDirectory(str(MIGRATIONS)).get_current_head()


def configured(connection: Connection) -> Config:
    """What alembic's commands need to work on a connection."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
