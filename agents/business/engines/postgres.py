"""PostgreSQL, asked in transactions that cannot write. Give the address of a role that may read the tables only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib import import_module
from inspect import signature
from typing import Any

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from agents.business.engines.base import (
    CONNECTIONS,
    StatementFailed,
    StatementTooSlow,
    map_driver_errors,
    remove_values,
)
from agents.errors import BusinessUnavailable

_OF_SQLALCHEMY = {"prepared_statement_cache_size", "prepared_statement_name_func", "async_fallback"}
# SQLSTATE of a table that is missing or forbidden: nothing that another statement could mend.
_UNDEFINED = ("42P01", "42501")
# SQLSTATE class of what is wrong with a value.
_DATA = "22"
# SQLSTATE that asyncpg gives a bound value which the column cannot hold: who asks, and not the statement, is wrong.
_BOUND = "22000"
# SQLSTATE of a statement that its timeout stopped.
_CANCELED = "57014"


class PostgresEngine:
    """A server."""

    dialect = "postgres"

    def __init__(self, address: URL, timeout: float) -> None:
        """timeout: seconds. Raises InvalidConfiguration."""
        milliseconds = str(int(timeout * 1000))
        session = {
            "default_transaction_read_only": "on",
            "standard_conforming_strings": "on",
            "statement_timeout": milliseconds,
            "lock_timeout": milliseconds,
            "idle_in_transaction_session_timeout": str(int(timeout * 2000)),
        }
        self._timeout = timeout
        with map_driver_errors(address, "asyncpg"):
            self._engine = create_async_engine(
                _convert_address(address),
                connect_args={"server_settings": session, "timeout": timeout},
                pool_size=CONNECTIONS,
                max_overflow=0,
                pool_timeout=timeout,
                pool_pre_ping=True,
                hide_parameters=True,
            )

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """See `Engine.fetch`. A limit of its own besides the server's, which a dead network would not keep."""
        try:
            async with asyncio.timeout(self._timeout * 2), self._engine.connect() as connection:
                await connection.execution_options(postgresql_readonly=True)
                result = await connection.exec_driver_sql(sql, tuple(parameters))
                return [tuple(row) for row in result.fetchmany(limit)]
        except DBAPIError as error:
            raise _convert_error(error) from error
        except (SQLAlchemyError, OSError) as error:  # TimeoutError is an OSError
            raise BusinessUnavailable(type(error).__name__) from error

    async def close(self) -> None:
        """See `Engine.close`."""
        await self._engine.dispose()


def _convert_address(address: URL) -> URL:
    """Returns the address with libpq's name of the one option that everybody uses. Raises TypeError for an
    unknown option.
    """
    connect = import_module("asyncpg").connect
    query = {"ssl" if name == "sslmode" else name: value for name, value in address.query.items()}
    if unknown := sorted(query.keys() - signature(connect).parameters.keys() - _OF_SQLALCHEMY):
        raise TypeError(f"asyncpg 没有选项 {'、'.join(unknown)}")
    return address.set(drivername="postgresql+asyncpg", query=query)


def _convert_error(error: DBAPIError) -> Exception:
    """Returns our error: SQLSTATE classes 21, 22 and 42 are the statement's own errors."""
    state = str(getattr(error.orig, "sqlstate", "") or "")
    if state == _CANCELED:
        return StatementTooSlow("the statement took too long")
    if state[:2] in ("21", _DATA, "42") and state not in (*_UNDEFINED, _BOUND):
        message = str(getattr(error.orig, "__cause__", None) or error.orig)
        return StatementFailed(remove_values(message, '"') if state[:2] == _DATA else message)
    return BusinessUnavailable(f"{type(error.orig).__name__} {state}")
