"""The engine of an address. Each layer would do alone: the guard writes what may be asked, the connection forbids
writing where the database can, and the account should be one that may read the listed tables only.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from agents.business.engines.backends import BACKENDS
from agents.business.engines.base import Engine
from agents.business.engines.general import GeneralEngine
from agents.business.engines.postgres import PostgresEngine
from agents.business.engines.sqlite import SqliteEngine
from agents.business.schema import Schema
from knowledge.errors import InvalidConfiguration

KNOWN = ("sqlite", "postgresql", *BACKENDS)


def open_engine(url: str, schema: Schema, timeout: float) -> Engine:
    """url: of SQLAlchemy; timeout: seconds. SQLite and PostgreSQL are asked with the drivers that come with Yingda.

    Raises InvalidConfiguration.
    """
    address = parse_address(url)
    match address.get_backend_name():
        case "sqlite":
            return SqliteEngine(Path(str(address.database)), schema, timeout)
        case "postgresql":
            return PostgresEngine(address, timeout)
        case other:
            return GeneralEngine(address, BACKENDS[other], timeout)


def parse_address(url: str) -> URL:
    """An address of a database that is known. Raises InvalidConfiguration."""
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise InvalidConfiguration("BUSINESS_DATABASE_URL 不是 SQLAlchemy 地址") from error
    name = address.get_backend_name()
    if name not in KNOWN:
        raise InvalidConfiguration(f"BUSINESS_DATABASE_URL 不支持 {name}，只支持 {'、'.join(KNOWN)}")
    if name == "sqlite" and not address.database:
        raise InvalidConfiguration("BUSINESS_DATABASE_URL 里没有 SQLite 文件名")
    return address
