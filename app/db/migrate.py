"""Brings a database to the schema of this code, at start."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from app.db.engine import Database

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).with_name("migrations")
TABLE = "alembic_version"
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
    if revision_of(connection) != head():
        from alembic import command

        command.upgrade(configured(connection), "head")


def revision_of(connection: Connection) -> str:
    """The migration that a database is at; empty for one without tables."""
    if not inspect(connection).has_table(TABLE):
        return ""
    return str(connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar() or "")


@cache
def head() -> str:
    """The last migration of this code: each file is named by its number, one after the other. Alembic would import
    them all.
    """
    return max(revisions())


def revisions() -> set[str]:
    """All migrations of this code."""
    return {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}


def configured(connection: Connection) -> Config:
    """What alembic's commands need to work on a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
