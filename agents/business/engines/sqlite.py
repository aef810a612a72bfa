"""A SQLite file, opened for reading: it is told which tables, columns and functions exist at all."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

from agents.business.engines.base import CONNECTIONS, StatementFailed, StatementTooSlow
from agents.business.schema import Schema
from agents.errors import BusinessUnavailable

_STEPS = 2000
"""Instructions of SQLite's machine between two looks at the clock; some 20 µs."""
_FUNCTIONS = frozenset(
    {
        *("count", "sum", "avg", "min", "max", "coalesce", "abs", "round", "lower", "upper", "length"),
        *("substr", "substring", "trim", "date", "replace", "instr", "like", "hex"),
    }
)


class SqliteEngine:
    """One file; it may come later than the engine."""

    dialect = "sqlite"

    def __init__(self, path: Path, schema: Schema, timeout: float) -> None:
        """timeout: seconds."""
        self._path = path
        self._timeout = timeout
        self._readable = _readable(schema)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="business")
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """See `Engine.fetch`. The time in the queue counts."""
        until = time.monotonic() + self._timeout
        values = {str(number): value for number, value in enumerate(parameters, start=1)}
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._fetch, sql, values, limit, until)

    async def close(self) -> None:
        """See `Engine.close`."""
        await asyncio.to_thread(self._threads.shutdown)
        while not self._idle.empty():
            self._idle.get_nowait().close()

    def _taken(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._connect()

    def _fetch(self, sql: str, values: dict[str, Any], limit: int, until: float) -> list[tuple[Any, ...]]:
        if time.monotonic() > until:
            raise BusinessUnavailable("all connections are busy")
        try:
            connection = self._taken()
            connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
            try:
                rows = connection.execute(sql, values).fetchmany(limit)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise _told(error) from error
        self._idle.put(connection)
        return rows

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=self._timeout, check_same_thread=False)
        connection.execute("PRAGMA query_only=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.set_authorizer(self._authorize)
        return connection

    def _authorize(self, action: int, one: str | None, two: str | None, *_: str | None) -> int:
        """one, two: table and column of what is read; of a function its name is the second."""
        allowed = action == sqlite3.SQLITE_SELECT
        if action == sqlite3.SQLITE_READ:
            columns = self._readable.get(str(one).lower())
            allowed = columns is not None and (not two or two.lower() in columns)
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = str(two).lower() in _FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _readable(schema: Schema) -> dict[str, frozenset[str]]:
    """Tables and columns by lower-case name: those listed, and those that say whose a row is."""
    names = {table.name: {column.lower() for column in table.columns} for table in schema.tables.values()}
    for table in schema.tables.values():
        if table.owner is not None:
            names[table.name].add(table.owner.column.lower())
            if table.owner.table:
                names[table.owner.table].add(table.owner.key.lower())
    return {name.lower(): frozenset(columns) for name, columns in names.items()}


def _told(error: sqlite3.Error) -> Exception:
    """What is wrong with the statement is told; all else is an outage, a table that is missing included."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code == sqlite3.SQLITE_INTERRUPT:  # by our own look at the clock, nobody else has the connection
        return StatementTooSlow("the statement took too long")
    if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH) and "no such table" not in str(error):
        return StatementFailed(str(error))
    return BusinessUnavailable(str(error))
