"""One of several servers does what only one needs to do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from app.db.engine import Database


@asynccontextmanager
async def leading(database: Database, lock: int) -> AsyncIterator[bool]:
    """Whether this process is the one, for as long as this is open; lock: which of PostgreSQL's advisory locks. A
    SQLite file has one server, which holds the lock on DATA_DIR.
    """
    if database.engine.dialect.name != "postgresql":
        yield True
        return
    async with database.engine.connect() as connection:
        await connection.execution_options(isolation_level="AUTOCOMMIT")
        held = bool((await connection.execute(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": lock})).scalar_one())
        try:
            yield held
        finally:
            if held:
                await connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": lock})
