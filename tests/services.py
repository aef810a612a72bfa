"""The servers that some tests need: used where they run, demanded with REQUIRE_SERVICES=1."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from secrets import token_hex

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

POSTGRES = os.environ.get("TEST_DATABASE_URL", "postgresql+asyncpg://postgres@127.0.0.1:5432/test")


def require_program(name: str) -> None:
    """Skips the test where the program is not installed, unless services are demanded."""
    if shutil.which(name) is None and os.environ.get("REQUIRE_SERVICES") != "1":
        pytest.skip(f"no {name} here")


def require_postgres() -> None:
    """Skips the test where PostgreSQL is not there, unless services are demanded."""
    address = make_url(POSTGRES)
    try:
        socket.create_connection((address.host, address.port or 5432), timeout=2).close()
    except OSError:
        if os.environ.get("REQUIRE_SERVICES") == "1":
            raise
        pytest.skip("no PostgreSQL here")


@asynccontextmanager
async def postgres_database(template: str = "template1") -> AsyncIterator[str]:
    """The address of a database of the test's own: an empty one, or a copy of one that nobody is connected to."""
    require_postgres()
    name = f"yingda_{token_hex(8)}"
    server = create_async_engine(POSTGRES, isolation_level="AUTOCOMMIT")
    try:
        async with server.connect() as connection:
            await connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        try:
            yield make_url(POSTGRES).set(database=name).render_as_string(hide_password=False)
        finally:
            async with server.connect() as connection:
                await connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    finally:
        await server.dispose()
