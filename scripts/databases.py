"""A database of one's own on a PostgreSQL that is there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from urllib.parse import urlsplit, urlunsplit

import asyncpg


@contextmanager
def own_database(server: str) -> Iterator[str]:
    """The address of an empty database, which is dropped afterwards. Raises OSError, asyncpg.PostgresError.

    server: `postgresql://…`, of an account that may create databases.
    """
    name = f"yingda_{token_hex(8)}"
    asyncio.run(fetch(server, f"CREATE DATABASE {name}"))
    try:
        yield urlunsplit(urlsplit(server)._replace(scheme="postgresql+asyncpg", path=f"/{name}"))
    finally:
        asyncio.run(fetch(server, f"DROP DATABASE {name} WITH (FORCE)"))


async def fetch(server: str, statement: str) -> list[asyncpg.Record]:
    """The rows of one statement. Raises OSError, asyncpg.PostgresError."""
    connection = await asyncpg.connect(server, timeout=10)
    try:
        return list(await connection.fetch(statement))
    finally:
        await connection.close()
