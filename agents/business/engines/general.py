"""Any database that SQLAlchemy opens with a driver, asked in threads; nothing is ever committed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

from loguru import logger
from sqlalchemy import URL, Connection, QueuePool, create_engine, event
from sqlalchemy.exc import DataError, DBAPIError, NotSupportedError, ProgrammingError, SQLAlchemyError

from agents.business.engines.backends import Backend
from agents.business.engines.base import (
    CONNECTIONS,
    GRACE,
    StatementFailed,
    StatementTooSlow,
    map_driver_errors,
    remove_values,
)
from agents.business.engines.dialects import MARK
from agents.errors import BusinessUnavailable
from knowledge.errors import InvalidConfiguration

# Seconds that a connection lives; servers drop idle ones.
RECYCLED = 1800
_MARKED = re.compile(rf"{MARK}(\d+)")
_SIGNS = {
    "qmark": "?",
    "format": "%s",
    "pyformat": "%(p{})s",
    "named": ":p{}",
    "numeric": ":{}",
    "numeric_dollar": "${}",
}


class _Run:
    """A running statement: what the waiting thread knows of the working one."""

    def __init__(self, cancel: str) -> None:
        self._cancel = cancel
        self._lock = Lock()
        self._at: Any = None
        self.connected = self.stopped = False

    def begin(self, connection: Any) -> bool:
        """Returns whether somebody still waits for it. connection: of the driver."""
        with self._lock:
            self._at, self.connected = connection, True
            return not self.stopped

    def end(self) -> bool:
        """Returns whether it was told to stop; afterwards the connection may serve another statement."""
        with self._lock:
            self._at = None
            return self.stopped

    def stop(self) -> None:
        """Stops the statement, where the driver can be asked to; the connection is not used again in any case."""
        with self._lock:
            self.stopped = True
            if self._at is not None and self._cancel:
                getattr(self._at, self._cancel)()


class GeneralEngine:
    """A pool of connections and as many threads."""

    def __init__(self, address: URL, backend: Backend, timeout: float) -> None:
        """timeout: seconds. Raises InvalidConfiguration."""
        self.dialect = backend.dialect
        self._backend = backend
        self._timeout = timeout
        with map_driver_errors(address, backend.package):
            driver = address.get_dialect().driver
            self._engine = create_engine(
                address,
                connect_args=dict(backend.arguments(driver, timeout)),
                poolclass=QueuePool,
                pool_size=CONNECTIONS,
                max_overflow=0,
                pool_timeout=timeout,
                pool_pre_ping=True,
                pool_recycle=RECYCLED,
                hide_parameters=True,
            )
        if self._engine.dialect.is_async:
            message = f"业务库地址 {address.drivername}://… 用的是异步驱动；请改用 {backend.package}"
            raise InvalidConfiguration(message)
        if not backend.read_only:
            logger.warning("这种业务库（{}）不能由连接强制只读，请给一个只能读这几张表的账号", backend.dialect)
        event.listen(self._engine, "connect", self._prepare_connection)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="business")

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """See `Engine.fetch`. The time in the queue and for a new connection counts."""
        run = _Run(self._backend.cancel)
        loop = asyncio.get_running_loop()
        task = loop.run_in_executor(self._threads, self._fetch, run, sql, parameters, limit)
        try:
            done, _ = await asyncio.wait({task}, timeout=self._timeout + GRACE)
        finally:
            if not task.done():
                task.cancel()
                run.stop()
        if done:
            return task.result()
        if run.connected:
            raise StatementTooSlow("the statement took too long")
        raise BusinessUnavailable("no connection in time")

    async def close(self) -> None:
        """See `Engine.close`. Does not wait for a thread that a dead network holds."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._engine.dispose)

    def _prepare_connection(self, connection: Any, _: Any) -> None:
        """Prepares a new connection of the driver."""
        cursor = connection.cursor()
        for statement in self._backend.session(self._timeout):
            cursor.execute(statement)
        cursor.close()

    def _fetch(self, run: _Run, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        try:
            with self._engine.connect() as connection:
                try:
                    waited_for = run.begin(connection.connection.driver_connection)
                    return self._read_rows(connection, sql, parameters, limit) if waited_for else []
                finally:
                    if run.end():
                        connection.invalidate()
        except DBAPIError as error:
            raise self._convert_error(error) from error
        except (SQLAlchemyError, OSError) as error:
            raise BusinessUnavailable(type(error).__name__) from error

    def _read_rows(
        self, connection: Connection, sql: str, parameters: Sequence[Any], limit: int
    ) -> list[tuple[Any, ...]]:
        statement, values = bind_parameters(sql, parameters, self._engine.dialect.paramstyle)
        options = {"no_parameters": not values}
        result = connection.exec_driver_sql(statement, values, options)
        return [tuple(row) for row in result.fetchmany(limit)]

    def _convert_error(self, error: DBAPIError) -> Exception:
        """Returns what is wrong with the statement; all else is an outage, a missing table included."""
        backend, message = self._backend, str(error.orig)
        if backend.slow.search(message):
            return StatementTooSlow("the statement took too long")
        wrong = isinstance(error, (ProgrammingError, DataError, NotSupportedError)) or backend.wrong.search(message)
        if wrong and not backend.lost.search(message) and not error.connection_invalidated:
            return StatementFailed(remove_values(message))
        return BusinessUnavailable(f"{type(error.orig).__name__} {remove_values(message)}")


def bind_parameters(sql: str, parameters: Sequence[Any], style: str) -> tuple[str, Any]:
    """Returns SQL and values as a driver of the paramstyle (PEP 249) wants them.

    In `sql` MARK and a number stand for a bound value. Written here, since SQLAlchemy's text() would look for names of
    values inside the statement's own texts too.
    """
    if not parameters:
        return sql, None
    numbers = [int(number) for number in _MARKED.findall(sql)]
    if style in ("format", "pyformat"):
        sql = sql.replace("%", "%%")
    sign = _SIGNS[style]
    sql = _MARKED.sub(lambda found: sign.format(found[1]), sql)
    if style in ("named", "pyformat"):
        return sql, {f"p{number}": value for number, value in enumerate(parameters, start=1)}
    if style in ("qmark", "format"):
        return sql, tuple(parameters[number - 1] for number in numbers)
    return sql, tuple(parameters)
