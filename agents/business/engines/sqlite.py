"""A SQLite file, opened for reading; it is told which tables, columns and functions may be used."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, LifoQueue
from typing import Any

from agents.business.engines.base import CONNECTIONS, GRACE, Readable, StatementFailed, StatementTooSlow, remove_values
from agents.errors import BusinessUnavailable

# Instructions of SQLite's machine between two looks at the clock; some 20 µs.
_STEPS = 2000
# Device and number of a file: while it is open, no other has both.
_File = tuple[int, int]
_FUNCTIONS = frozenset(
    {
        *("count", "sum", "avg", "min", "max", "coalesce", "abs", "round", "lower", "upper", "length"),
        *("substr", "substring", "trim", "date", "replace", "instr", "like", "hex"),
    }
)


class SqliteEngine:
    """One file, which may be created later than the engine."""

    dialect = "sqlite"

    def __init__(self, path: Path, readable: Readable, timeout: float) -> None:
        """timeout: seconds."""
        self._path = path
        self._timeout = timeout
        self._readable = readable
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="business")
        self._idle: LifoQueue[tuple[_File, sqlite3.Connection]] = LifoQueue()

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """See `Engine.fetch`. The time in the queue counts."""
        until = time.monotonic() + self._timeout
        values = {str(number): value for number, value in enumerate(parameters, start=1)}
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._fetch, sql, values, limit, until)
        try:
            return await asyncio.wait_for(work, self._timeout + GRACE)
        except TimeoutError as error:  # a disk that does not answer: nothing looks at the clock
            raise BusinessUnavailable("all connections are busy") from error

    async def close(self) -> None:
        """See `Engine.close`. Does not wait for a thread that a dead disk holds."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        while not self._idle.empty():
            self._idle.get_nowait()[1].close()

    def _acquire_connection(self) -> tuple[_File, sqlite3.Connection]:
        """Returns a connection to the present file: a newer one may have been moved to its place."""
        status = self._path.stat()
        file = status.st_dev, status.st_ino
        while True:
            try:
                opened, connection = self._idle.get_nowait()
            except Empty:
                return file, self._connect()
            if opened == file:
                return file, connection
            connection.close()

    def _fetch(self, sql: str, values: dict[str, Any], limit: int, until: float) -> list[tuple[Any, ...]]:
        if time.monotonic() > until:
            raise BusinessUnavailable("all connections are busy")
        try:
            file, connection = self._acquire_connection()
            connection.set_progress_handler(lambda: int(time.monotonic() > until), _STEPS)
            try:
                rows = connection.execute(sql, values).fetchmany(limit)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise _convert_error(error) from error
        except OSError as error:
            raise BusinessUnavailable(type(error).__name__) from error
        self._idle.put((file, connection))
        return rows

    def _connect(self) -> sqlite3.Connection:
        uri = f"{self._path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(uri, uri=True, timeout=self._timeout, check_same_thread=False)
        try:
            connection.execute("PRAGMA query_only=ON")
            connection.execute("PRAGMA trusted_schema=OFF")
            views = connection.execute("SELECT lower(name) FROM sqlite_master WHERE type = 'view'").fetchall()
            listed = {name for (name,) in views} & self._readable.keys()
            connection.set_authorizer(partial(self._authorize, listed))
        except BaseException:
            connection.close()
            raise
        return connection

    def _authorize(
        self, views: Set[str], action: int, one: str | None, two: str | None, _: str | None, within: str | None
    ) -> int:
        """Allows reading listed columns and functions.

        one, two: table and column of what is read; of a function its name is the second. within: the view that reads
        it, which may read whatever it is made of where it is one of `views`.
        """
        allowed = action == sqlite3.SQLITE_SELECT
        if action in (sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION) and str(within).lower() in views:
            allowed = True
        elif action == sqlite3.SQLITE_READ:
            columns = self._readable.get(str(one).lower())
            allowed = columns is not None and (not two or two.lower() in columns)
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = str(two).lower() in _FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _convert_error(error: sqlite3.Error) -> Exception:
    """Returns what is wrong with the statement; all else is an outage, a missing table included."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code == sqlite3.SQLITE_INTERRUPT:  # by our own look at the clock, nobody else has the connection
        return StatementTooSlow("the statement took too long")
    if code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_AUTH) and "no such table" not in str(error):
        return StatementFailed(remove_values(str(error)))
    return BusinessUnavailable(str(error))
