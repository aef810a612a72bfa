"""The database connection: SQLite (WAL) by default, PostgreSQL by address; nothing else here knows the difference."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

BUSY_TIMEOUT_MS = 30_000
"""How long a connection waits for another process that writes."""

_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",  # first: switching to WAL may have to wait already
    "PRAGMA journal_mode=WAL",
    # NORMAL survives a killed process but not a power cut: WAL then syncs at checkpoints only. A commit is what the
    # service acknowledges, so every commit is synced; documents come one by one and turns in groups, so it is cheap.
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
)


class Database:
    """Hands out transactions. `read` sees one state of all tables throughout; `write` commits at the end as a whole.

    Writers are serialised on SQLite for the whole database (BEGIN IMMEDIATE), on PostgreSQL by the rows they lock.
    """

    def __init__(self, url: str) -> None:
        """`url`: SQLAlchemy async address; the folder of a SQLite file is created."""
        address = make_url(url)
        self._sqlite = address.get_backend_name() == "sqlite"
        if self._sqlite and address.database:
            Path(address.database).parent.mkdir(parents=True, exist_ok=True)
        self.engine = create_async_engine(url, json_serializer=partial(json.dumps, ensure_ascii=False))
        # Waiting in order here is fair and costs nothing; SQLite's busy handler sleeps and polls.
        self._writer = asyncio.Lock() if self._sqlite else nullcontext()
        if self._sqlite:
            event.listen(self.engine.sync_engine, "connect", _on_connect)
            event.listen(self.engine.sync_engine, "begin", _on_begin)

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A read transaction over one snapshot."""
        options: dict[str, Any] = {} if self._sqlite else {"isolation_level": "REPEATABLE READ"}
        async with self.engine.connect() as connection:
            await connection.execution_options(**options)
            async with connection.begin():
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A write transaction; an exception rolls all of it back."""
        async with self._writer, self.engine.connect() as connection:
            await connection.execution_options(writes=True)
            async with connection.begin():
                yield connection

    async def close(self) -> None:
        """Closes all connections."""
        await self.engine.dispose()


def _on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # the driver must not begin transactions on its own: _on_begin does
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _on_begin(connection: Connection) -> None:
    # A transaction that reads first and writes later fails at once if another process wrote in between,
    # whatever the busy timeout; one that takes the write lock at its start waits.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
