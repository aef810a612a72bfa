"""Opens the engine of an address.

There are three layers, each of which would do alone: the guard writes what may be asked, the connection forbids writing
where the database can, and the account should be one that may read the listed tables only.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from agents.business.engines.backends import find_backend
from agents.business.engines.base import Engine, Readable
from agents.business.engines.general import GeneralEngine
from agents.business.engines.postgres import PostgresEngine
from agents.business.engines.sqlite import SqliteEngine
from knowledge.errors import InvalidConfiguration


def open_engine(url: str, readable: Readable, timeout: float) -> Engine:
    """Opens the engine. SQLite and PostgreSQL use the drivers that come with Yingda.

    Args:
        url: of SQLAlchemy.
        readable: tables and columns that statements may read.
        timeout: seconds.

    Raises:
        InvalidConfiguration: the address is wrong, or its driver missing.
    """
    address = parse_address(url)
    match address.get_backend_name():
        case "sqlite":
            return SqliteEngine(Path(str(address.database)), readable, timeout)
        case "postgresql":
            return PostgresEngine(address, timeout)
        case other:
            return GeneralEngine(address, find_backend(other), timeout)


def parse_address(url: str) -> URL:
    """Parses an address. Raises InvalidConfiguration for what is no address."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise InvalidConfiguration("业务库地址不是 SQLAlchemy 地址") from error
    if address.get_backend_name() == "sqlite" and not address.database:
        raise InvalidConfiguration("业务库地址里没有 SQLite 文件名")
    return address


def find_file(url: str) -> Path | None:
    """Returns the file of an address; None for a server. Raises InvalidConfiguration."""
    address = parse_address(url)
    return Path(str(address.database)) if address.get_backend_name() == "sqlite" else None
