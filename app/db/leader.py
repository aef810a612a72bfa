"""One of several servers does what only one needs to do: PostgreSQL's advisory locks, which die with their holder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.engine import Database


class AdvisoryLock:
    """number: which of PostgreSQL's. A SQLite file has one server, which holds the lock on DATA_DIR, and this."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._number = {"lock": number}
        self._connection: AsyncConnection | None = None

    async def acquire(self) -> bool:
        """Whether it is this process's, by now or still. Raises what the database raises, and then it is not."""
        if self._database.engine.dialect.name != "postgresql":
            return True
        if self._connection is not None:
            try:
                await self._connection.execute(text("SELECT 1"))
            except BaseException:
                await self._close_connection()
                raise
            return True
        return await self._try_acquire()

    async def release(self) -> None:
        """Gives it back, if it is held."""
        if self._connection is None:
            return
        try:
            await self._connection.execute(text("SELECT pg_advisory_unlock(:lock)"), self._number)
        except BaseException:
            await self._close_connection()
            raise
        connection, self._connection = self._connection, None
        await connection.close()

    async def _try_acquire(self) -> bool:
        connection = await self._database.engine.connect()
        try:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            asked = text("SELECT pg_try_advisory_lock(:lock)")
            held = bool((await connection.execute(asked, self._number)).scalar_one())
        except BaseException:
            await connection.invalidate()  # with it goes the lock, if it was given
            await connection.close()
            raise
        if held:
            self._connection = connection
        else:
            await connection.close()
        return held

    async def _close_connection(self) -> None:
        """Ends the connection, be it broken or not: the lock goes with it."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.invalidate()
            await connection.close()


@asynccontextmanager
async def try_lead(database: Database, number: int) -> AsyncIterator[bool]:
    """Whether this process is the one, for as long as this is open; see `AdvisoryLock`."""
    lock = AdvisoryLock(database, number)
    try:
        yield await lock.acquire()
    finally:
        await lock.release()
