"""The servers that some tests need: used where they run, demanded with REQUIRE_SERVICES=1."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from urllib.parse import urlsplit

import pytest
from redis.asyncio import Redis
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

REDIS = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/0")
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


def require_redis() -> None:
    """Skips the test where Redis is not there, unless services are demanded."""
    address = urlsplit(REDIS)
    try:
        socket.create_connection((address.hostname, address.port or 6379), timeout=2).close()
    except OSError:
        if os.environ.get("REQUIRE_SERVICES") == "1":
            raise
        pytest.skip("no Redis here")


@asynccontextmanager
async def redis_prefix() -> AsyncIterator[str]:
    """The beginning of the test's own keys in Redis, which are deleted afterwards."""
    require_redis()
    prefix = f"test-{token_hex(8)}"
    try:
        yield prefix
    finally:
        async with Redis.from_url(REDIS) as client:
            async for key in client.scan_iter(f"{prefix}:*", count=1000):
                await client.delete(key)


class OwnRedis:
    """A Redis of the test's own, which it may kill; nothing of it is kept."""

    def __init__(self) -> None:
        require_program("redis-server")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Returns once it answers."""
        self._spawn()
        for _ in range(600):
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=60).close()
                return
            await asyncio.sleep(0.1)
        raise RuntimeError("redis-server does not answer")

    def _spawn(self) -> None:
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def send(self, signal: int) -> None:
        """To the process, which runs."""
        assert self._process is not None
        self._process.send_signal(signal)

    def kill(self) -> None:
        """At once, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
async def own_redis() -> AsyncIterator[OwnRedis]:
    """One that runs."""
    server = OwnRedis()
    await server.start()
    yield server
    server.kill()


@asynccontextmanager
async def postgres_database(template: str = "template1") -> AsyncIterator[str]:
    """The address of a database of the test's own: an empty one, or a copy of one that nobody is connected to."""
    require_postgres()
    name = f"yingda_{token_hex(8)}"
    server = create_async_engine(POSTGRES, isolation_level="AUTOCOMMIT")
    try:
        async with server.connect() as connection:
            await connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
            # No test pulls the plug: nobody waits for the disk.
            await connection.execute(text(f"ALTER DATABASE {name} SET synchronous_commit = off"))
        try:
            yield make_url(POSTGRES).set(database=name).render_as_string(hide_password=False)
        finally:
            async with server.connect() as connection:
                await connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    finally:
        await server.dispose()
