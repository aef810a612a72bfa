"""Brings a database to the schema of this code, at start."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from app.db.engine import Database

MIGRATIONS = Path(__file__).with_name("migrations")


async def upgrade(database: Database) -> None:
    """Runs the migrations that are missing, all in one transaction; several processes may call it at once."""
    async with database.write() as connection:
        await connection.run_sync(_upgrade)


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
