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
# Of PostgreSQL's advisory locks, the one that stands for this schema.
_LOCK = 7_316_020_411


@asynccontextmanager
async def open_migrated(url: str) -> AsyncIterator[Database]:
    """Opens a database, migrates it to this code's schema, and closes it at the end."""
    database = Database(url)
    try:
        await upgrade_schema(database)
        yield database
    finally:
        await database.close()


async def upgrade_schema(database: Database) -> None:
    """Runs the migrations that are missing, all in one transaction; several processes may call it at once."""
    async with database.write() as connection:
        await connection.run_sync(_upgrade_schema)


def _upgrade_schema(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":  # on SQLite the transaction itself lets one process in at a time
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if read_revision(connection) != find_head():
        from alembic import command

        command.upgrade(build_config(connection), "head")


def read_revision(connection: Connection) -> str:
    """Returns the migration that a database is at; empty for one without tables."""
    if not inspect(connection).has_table(TABLE):
        return ""
    return str(connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar() or "")


@cache
def find_head() -> str:
    """Returns the last migration of this code. Files are named by their numbers; Alembic would import all of them."""
    return max(list_revisions())


def list_revisions() -> set[str]:
    """Returns all migrations of this code."""
    return {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}


def build_config(connection: Connection) -> Config:
    """Builds what alembic's commands need to work on a connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
