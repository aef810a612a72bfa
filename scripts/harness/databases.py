"""Empty databases on a PostgreSQL server, and what databases there hold."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from secrets import token_hex
from urllib.parse import urlsplit, urlunsplit

import asyncpg


@contextmanager
def create_database(server: str) -> Iterator[str]:
    """Creates an empty database and drops it at the end of the block.

    Args:
        server: `postgresql://…`, of an account that may create databases.

    Yields: the address of the database, for the product.

    Raises: OSError, asyncpg.PostgresError.
    """
    name = f"yingda_{token_hex(8)}"
    asyncio.run(fetch_rows(server, f"CREATE DATABASE {name}"))
    try:
        yield urlunsplit(urlsplit(server)._replace(scheme="postgresql+asyncpg", path=f"/{name}"))
    finally:
        asyncio.run(fetch_rows(server, f"DROP DATABASE {name} WITH (FORCE)"))


async def fetch_rows(address: str, *statements: str) -> list[list[asyncpg.Record]]:
    """Runs statements over one connection.

    Args:
        address: of a PostgreSQL server or database, as the product or as asyncpg writes it.

    Returns: the rows of each statement.

    Raises: OSError, asyncpg.PostgresError.
    """
    connection = await asyncpg.connect(address.replace("+asyncpg", ""), timeout=10)
    try:
        return [list(await connection.fetch(statement)) for statement in statements]
    finally:
        await connection.close()
