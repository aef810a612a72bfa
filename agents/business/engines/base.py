"""The rules of every connection to a company's own database: read only, with limits of time and rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from sqlalchemy import URL
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from knowledge.errors import InvalidConfiguration

# Of one database, and so of one tenant: its statements may fill them without holding up another's.
CONNECTIONS = 4
# Seconds after which our own clock stops a statement that the database, where it has a clock, did not.
GRACE = 0.5
# Tables and their columns, by lower-case name, that any statement may need.
Readable = Mapping[str, frozenset[str]]


class StatementFailed(Exception):
    """The database refuses the statement; the message says why, for the author of the next one."""


class StatementTooSlow(StatementFailed):
    """The statement used up its time; nothing is wrong with the database itself."""


class Engine(Protocol):
    """dialect: as sqlglot calls it."""

    dialect: str

    async def fetch(self, sql: str, parameters: Sequence[Any], limit: int) -> list[tuple[Any, ...]]:
        """Returns at most `limit` rows; parameters are named 1, 2 ... and all of them occur.

        Raises StatementFailed, StatementTooSlow, BusinessUnavailable.
        """

    async def close(self) -> None:
        """Closes all connections."""


def remove_values(message: str, quote: str = "'") -> str:
    """Returns the message of a database in one line, without what it quotes: no model and no log may see values of rows
    (Could not convert string 'YD2026…' to INT32). Values may contain quotes: all between the outer ones goes.
    """
    return re.sub(f"{quote}.*{quote}", "…", message.strip(), flags=re.DOTALL).partition("\n")[0]


@contextmanager
def map_driver_errors(address: URL, package: str) -> Iterator[None]:
    """Wraps the making of an engine. package: what to install where its driver is missing. Raises
    InvalidConfiguration.
    """
    try:
        yield
    except (ImportError, NoSuchModuleError) as error:
        message = f"业务库地址 {address.drivername}://… 的驱动没有安装（{error}）；请先安装 {package}"
        raise InvalidConfiguration(message) from error
    except (ArgumentError, TypeError) as error:
        raise InvalidConfiguration(f"业务库地址 {address.drivername}://… 读不懂：{error}") from error
