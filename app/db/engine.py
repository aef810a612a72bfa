"""The database connection: SQLite (WAL) by default, PostgreSQL by address; nothing else here knows the difference."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

from sqlalchemy import URL, Connection, Engine, Executable, Row, Select, create_engine, event, func, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.sql.selectable import TypedReturnsRows

from app.db.base import Base, get_table
from app.db.wal import WriteAheadLog, run_vacuum, switch_to_wal, try_write
from app.errors import DatabaseBusy, DatabaseUnavailable, find_outage

Result = TypeVar("Result")
Columns = TypeVarTuple("Columns")
Given = TypeVarTuple("Given")

DIALECTS: Mapping[str, Any] = {"sqlite": sqlite, "postgresql": postgresql}
APPLICATION = "yingda"
_AWAY = "数据库暂时不可用，请稍后再试。"
# Told to clients: to ask costs little while the database is away, and whoever waits longer waits in vain.
_RETRY_SECONDS = 2
# How long a connection waits for another process that writes.
BUSY_TIMEOUT_MS = 30_000
# Threads of `run_in_reader`, which are no others' than the database's: a customer waits for it.
READERS = 4


_PRAGMAS = (
    "PRAGMA foreign_keys=ON",
    "PRAGMA secure_delete=ON",  # what was deleted is overwritten, not only marked as free
)
_EVERY_COMMIT = ("PRAGMA synchronous=FULL", "PRAGMA fullfsync=ON")  # the latter: macOS asks for it, others ignore it
# A killed process loses nothing either way. FULL survives a power cut too, by waiting for the disk at every commit;
# NORMAL lets the disk follow: with the next commit that waits, or within some 1,000 pages.
_SOON = ("PRAGMA synchronous=NORMAL",)


class Serialised(str):
    """A value of a JSON column that is JSON text already: written as it is."""

    __slots__ = ()


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
        # A server drops connections when it restarts, a firewall when they idle: each is tried before it is used.
        served: dict[str, Any] = {} if self._sqlite else {"pool_pre_ping": True, "connect_args": _connect_args(address)}
        self.engine = create_async_engine(url, json_serializer=_serialize_json, **served)
        # Waiting in order here is fair and costs nothing; SQLite's busy handler sleeps and polls.
        self._writer = asyncio.Lock()
        self._outage: DatabaseUnavailable | None = None
        # By whether a commit waits for the disk.
        self._in_thread: dict[bool, Engine] = {}
        self._log = WriteAheadLog(address.database or "")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="transact")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="reader")
        if self._sqlite:
            _configure_sqlite(self.engine.sync_engine, _EVERY_COMMIT)
            for durable, pragmas in ((True, _EVERY_COMMIT), (False, _SOON)):
                engine = create_engine(address.set(drivername="sqlite"), json_serializer=_serialize_json)
                _configure_sqlite(engine, pragmas)
                self._in_thread[durable] = engine

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Opens a read transaction over one snapshot."""
        options: dict[str, Any] = {} if self._sqlite else {"isolation_level": "REPEATABLE READ"}
        async with self._open_connection() as connection:
            await connection.execution_options(**options)
            async with connection.begin():
                yield connection

    async def fetch(
        self, query: TypedReturnsRows[*Columns], parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Row[*Columns]]:
        """All rows of a query, read in a transaction of its own. parameters: by the names of its `bindparam`s."""
        return await self.run_in_reader(lambda connection: connection.execute(query, parameters).all())

    async def fetch_first(
        self, query: TypedReturnsRows[*Columns], parameters: Mapping[str, Any] | None = None
    ) -> Row[*Columns] | None:
        """The first row of a query; None where it has none. parameters: see `fetch`."""
        return await self.run_in_reader(lambda connection: connection.execute(query, parameters).first())

    async def fetch_values(self, query: TypedReturnsRows[*tuple[Any, ...]]) -> list[Any]:
        """The first column of all rows of a query."""
        return [row[0] for row in await self.fetch(query)]

    async def fetch_value(
        self, query: TypedReturnsRows[*tuple[Any, ...]], parameters: Mapping[str, Any] | None = None
    ) -> Any:
        """The first column of the first row of a query; None where it has no row. parameters: see `fetch`."""
        row = await self.fetch_first(query, parameters)
        return None if row is None else row[0]

    async def fetch_page(self, query: Select[*Columns], offset: int, limit: int) -> tuple[Sequence[Row[*Columns]], int]:
        """Some rows of an ordered query, and how many it has in all; both of one moment."""
        counted = query.order_by(None).with_only_columns(func.count(), maintain_column_froms=True)
        async with self.read() as connection:
            total = (await connection.execute(counted)).scalar_one()
            return (await connection.execute(query.offset(offset).limit(limit))).all(), total

    async def execute(self, statement: Executable, *, durable: bool = True) -> int:
        """Carries out one statement in a write transaction of its own; returns how many rows it changed. durable: see
        `transact`.
        """
        return await self.transact(lambda connection: connection.execute(statement).rowcount, durable=durable)

    async def put_row(
        self, table: type[Base], row: Mapping[str, Any], changed: Mapping[str, Any] | None = None
    ) -> None:
        """Stores a row in a transaction of its own, see `build_upsert`."""
        await self.transact(lambda connection: connection.execute(build_upsert(connection, table, row, changed)))

    async def run_in_reader(self, work: Callable[[Connection, *Given], Result], *given: *Given) -> Result:
        """A read transaction over one snapshot that needs nothing from the event loop in between. given: what `work`
        gets besides the connection.

        On SQLite all of it takes one visit to a thread, where `read` pays for a dozen: the last turns of a conversation
        cost .26 ms of a processor instead of .94, where their statement is made once.
        """
        if not self._in_thread:
            async with self.read() as connection:
                return await connection.run_sync(work, *given)
        loop, engine = asyncio.get_running_loop(), self._in_thread[False]
        with self._translate_outages():
            return await loop.run_in_executor(self._readers, self._run_read, engine, lambda one: work(one, *given))

    @asynccontextmanager
    async def write(self, *, erases: bool = False) -> AsyncIterator[AsyncConnection]:
        """Opens a write transaction; an exception rolls all of it back. erases: see `transact`."""
        async with self._wait_to_write(), self._open_connection() as connection:
            await connection.execution_options(writes=True)
            async with connection.begin():
                yield connection
            await self._cut_log(erases)

    async def transact(
        self, work: Callable[[Connection], Result], *, durable: bool = True, erases: bool = False
    ) -> Result:
        """A write transaction of several statements that need nothing from the event loop in between.

        On SQLite all of it takes one visit to a thread, where `write` pays for one a statement: a turn of a batch of
        32 costs 60 % less. durable: returns once it is on the disk. Else SQLite lets the disk follow, and a power cut,
        unlike a kill, may take it: for what can be done again, and for turns, where waiting made a third of what one
        costs besides the embedding. PostgreSQL waits as its `synchronous_commit` says. erases: what it deletes is to be
        on no page of SQLite's files any more, the log included.
        """
        if not self._in_thread:
            async with self.write(erases=erases) as connection:
                return await connection.run_sync(work)
        engine = self._in_thread[durable]
        async with self._wait_to_write():
            inside = copy_context().run  # what follows names the request that it follows from
            loop = asyncio.get_running_loop()
            with self._translate_outages():
                result = await loop.run_in_executor(self._thread, inside, self._run_write, engine, work)
            await self._cut_log(erases)
            return result

    async def find_outage(self) -> DatabaseUnavailable | None:
        """Returns why something could not be stored since the last call and, on SQLite, still cannot be; else None."""
        outage, self._outage = self._outage, None
        if outage is not None and self._in_thread:
            loop, engine = asyncio.get_running_loop(), self._in_thread[True]
            with suppress(DatabaseUnavailable), self._translate_outages():  # which remembers it again
                await loop.run_in_executor(self._readers, try_write, engine)
                return None
        return outage

    async def vacuum(self) -> None:
        """Gives the space of what was deleted back to the system. On SQLite alone: PostgreSQL does it by itself."""
        if self._in_thread:
            engine = self._in_thread[True]
            await asyncio.get_running_loop().run_in_executor(self._thread, run_vacuum, engine)

    async def close(self) -> None:
        """Closes all connections."""
        self._thread.shutdown()
        self._readers.shutdown()
        for engine in self._in_thread.values():
            engine.dispose()
        await self.engine.dispose()

    @asynccontextmanager
    async def _open_connection(self) -> AsyncIterator[AsyncConnection]:
        """Raises DatabaseUnavailable where the server does not answer, or goes away meanwhile: that is no defect."""
        async with AsyncExitStack() as stack:
            try:
                connection = await stack.enter_async_context(self.engine.connect())
            except Exception as error:  # a server that starts or stops says so with an error of the driver's own
                if self._sqlite or not isinstance(error, _list_refusals()):
                    raise
                raise DatabaseUnavailable(_AWAY, retry_after=_RETRY_SECONDS) from error
            try:
                with self._translate_outages():
                    yield connection
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                raise DatabaseUnavailable(_AWAY, retry_after=_RETRY_SECONDS) from error

    @asynccontextmanager
    async def _wait_to_write(self) -> AsyncIterator[None]:
        """Raises DatabaseBusy where those before take as long as another process may."""
        if not self._sqlite:
            yield
            return
        try:
            async with asyncio.timeout(BUSY_TIMEOUT_MS / 1000):
                await self._writer.acquire()
        except TimeoutError as error:
            raise DatabaseBusy from error
        try:
            yield
        finally:
            self._writer.release()

    @contextmanager
    def _translate_outages(self) -> Iterator[None]:
        """Gives what the driver says of a full disk or a lock its type, and remembers it."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            if (outage := find_outage(error)) is None:
                raise
            self._outage = outage
            raise outage from error

    async def _cut_log(self, erases: bool) -> None:
        if erases:
            self._log.expect_erasure()
        if self._in_thread and self._log.is_due:
            engine = self._in_thread[True]
            await asyncio.get_running_loop().run_in_executor(self._thread, self._log.cut_log, engine)

    @staticmethod
    def _run_read(engine: Engine, work: Callable[[Connection], Result]) -> Result:
        with engine.connect() as connection, connection.begin():
            return work(connection)

    @staticmethod
    def _run_write(engine: Engine, work: Callable[[Connection], Result]) -> Result:
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            return work(connection)


def _list_refusals() -> tuple[type[Exception], ...]:
    """Returns the errors that are raised if no connection is to be had; asyncpg's own errors come as they are from
    there.
    """
    from asyncpg import InterfaceError, PostgresError

    return OSError, DBAPIError, NoConnectionFree, PostgresError, InterfaceError


def _connect_args(address: URL) -> dict[str, Any]:
    """Returns arguments by which the server's own lists say whose connections these are."""
    return {"server_settings": {"application_name": APPLICATION}} if address.get_driver_name() == "asyncpg" else {}


def insert_into(connection: Connection | AsyncConnection, table: type[DeclarativeBase]) -> Any:
    """Builds an INSERT in the dialect of the connection: both know ON CONFLICT, SQLAlchemy's common INSERT does not."""
    return DIALECTS[connection.dialect.name].insert(table)


def build_upsert(
    connection: Connection | AsyncConnection,
    table: type[Base],
    row: Mapping[str, Any],
    changed: Mapping[str, Any] | None = None,
) -> Any:
    """INSERT of a row that takes the place of the one with its primary key.

    row: values by column; changed: what changes of a row that is there, all of `row` where nothing else is said.
    """
    key = get_table(table).primary_key.columns.keys()
    new = changed if changed is not None else {name: value for name, value in row.items() if name not in key}
    return insert_into(connection, table).values(row).on_conflict_do_update(index_elements=key, set_=new)


def _serialize_json(value: object) -> str:
    return value if isinstance(value, Serialised) else json.dumps(value, ensure_ascii=False)


def _configure_sqlite(engine: Engine, synchronous: Sequence[str]) -> None:
    def configure_connection(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # the driver must not begin transactions on its own: _on_begin does
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        switch_to_wal(cursor)
        for pragma in (*_PRAGMAS, *synchronous):
            cursor.execute(pragma)
        cursor.close()

    event.listen(engine, "connect", configure_connection)
    event.listen(engine, "begin", _begin_transaction)


def _begin_transaction(connection: Connection) -> None:
    # A transaction that reads first and writes later fails at once if another process wrote in between,
    # whatever the busy timeout; one that takes the write lock at its start waits.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
