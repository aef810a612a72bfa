"""Connections to a company's own database that can only read, for so long and no longer.

Each layer would do alone: the guard writes what may be asked, the connection forbids writing, and SQLite is told which
tables, columns and functions exist at all. On PostgreSQL give the address of a role that may read the tables only.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any, Protocol

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from agents.business.schema import Schema
from agents.errors import BusinessUnavailable
from knowledge.errors import InvalidConfiguration

CONNECTIONS = 4
_STEPS = 2000
"""Instructions of SQLite's machine between two looks at the clock; some 20 µs."""
_FUNCTIONS = frozenset(
    {
        *("count", "sum", "avg", "min", "max", "coalesce", "abs", "round", "lower", "upper", "length"),
        *("substr", "substring", "trim", "date", "replace", "instr", "like"),
    }
)
_UNDEFINED = ("42P01", "42501")
"""SQLSTATE of a table that is missing or forbidden: nothing that another statement could mend."""


class StatementFailed(Exception):
    """The database refuses the statement; the message says why, for whoever writes another one."""


class Engine(Protocol):
    """dialect: as sqlglot calls it."""

    dialect: str

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """At most `limit` rows; parameters are named 1, 2 ... Raises StatementFailed, BusinessUnavailable."""

    async def close(self) -> None:
        """Closes all connections."""


def open_engine(url: str, schema: Schema, timeout: float) -> Engine:
    """url: of SQLAlchemy, with or without an async driver; timeout: seconds. Raises InvalidConfiguration."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise InvalidConfiguration("BUSINESS_DATABASE_URL 不是 SQLAlchemy 地址") from error
    match address.get_backend_name():
        case "sqlite" if address.database:
            return SqliteEngine(Path(address.database), schema, timeout)
        case "postgresql":
            return PostgresEngine(address, timeout)
        case other:
            raise InvalidConfiguration(f"BUSINESS_DATABASE_URL 只支持 SQLite 文件与 PostgreSQL，不支持 {other}")


class SqliteEngine:
    """A file, opened for reading."""

    dialect = "sqlite"

    def __init__(self, path: Path, schema: Schema, timeout: float) -> None:
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
        try:
            connection = self._taken()
            connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
            try:
                rows = connection.execute(sql, values).fetchmany(limit)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise _sqlite_error(error) from error
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


class PostgresEngine:
    """A server, asked in transactions that cannot write."""

    dialect = "postgres"

    def __init__(self, address: URL, timeout: float) -> None:
        milliseconds = str(int(timeout * 1000))
        session = {
            "default_transaction_read_only": "on",
            "standard_conforming_strings": "on",
            "statement_timeout": milliseconds,
            "lock_timeout": milliseconds,
            "idle_in_transaction_session_timeout": str(int(timeout * 2000)),
        }
        self._timeout = timeout
        self._engine = create_async_engine(
            address.set(drivername="postgresql+asyncpg"),
            connect_args={"server_settings": session, "timeout": timeout},
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=timeout,
            pool_pre_ping=True,
        )

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """See `Engine.fetch`. A limit of its own besides the server's, which a dead network would not keep."""
        try:
            async with asyncio.timeout(self._timeout * 2), self._engine.connect() as connection:
                await connection.execution_options(postgresql_readonly=True)
                result = await connection.exec_driver_sql(sql, tuple(parameters))
                return [tuple(row) for row in result.fetchmany(limit)]
        except DBAPIError as error:
            raise _postgres_error(error) from error
        except (SQLAlchemyError, OSError) as error:  # TimeoutError is an OSError
            raise BusinessUnavailable(type(error).__name__) from error

    async def close(self) -> None:
        """See `Engine.close`."""
        await self._engine.dispose()


def _readable(schema: Schema) -> dict[str, frozenset[str]]:
    """Tables and columns by lower-case name: those listed, and those that say whose a row is."""
    names = {table.name: {column.lower() for column in table.columns} for table in schema.tables.values()}
    for table in schema.tables.values():
        if table.owner is not None:
            names[table.name].add(table.owner.column.lower())
            if table.owner.table:
                names[table.owner.table].add(table.owner.key.lower())
    return {name.lower(): frozenset(columns) for name, columns in names.items()}


def _sqlite_error(error: sqlite3.Error) -> Exception:
    """What is wrong with the statement is told; all else is an outage, a table that is missing included."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH) and "no such table" not in str(error):
        return StatementFailed(str(error))
    return BusinessUnavailable(str(error))


def _postgres_error(error: DBAPIError) -> Exception:
    """SQLSTATE classes 21, 22 and 42 are the statement's own errors."""
    state = str(getattr(error.orig, "sqlstate", "") or "")
    if state[:2] in ("21", "22", "42") and state not in _UNDEFINED:
        return StatementFailed(str(error.orig).rpartition(": ")[2])
    return BusinessUnavailable(f"{type(error.orig).__name__} {state}")
