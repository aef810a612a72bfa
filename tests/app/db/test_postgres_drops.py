"""A PostgreSQL server that drops its connections costs a retry and not an error."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from app.db.engine import APPLICATION, Database
from app.errors import DatabaseUnavailable
from tests.app.serving import served
from tests.services import postgres_database

_OWN = "datname = current_database() AND application_name = :name AND pid <> pg_backend_pid()"


async def dropped(url: str) -> int:
    """Ends the product's connections to this database, and says how many there were."""
    server = create_async_engine(url)
    try:
        async with server.connect() as connection:
            ended = text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {_OWN}")
            return len((await connection.execute(ended, {"name": APPLICATION})).all())
    finally:
        await server.dispose()


@pytest.mark.acceptance(only=True)
async def test_endpoints_answer_after_all_connections_were_dropped(tmp_path: Path) -> None:
    async with (
        postgres_database() as url,
        served(tmp_path, database_url=url) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as http,
    ):

        async def called() -> set[int]:
            responses = await asyncio.gather(
                *(http.get(path) for path in ("/api/v1/conversations", "/api/v1/tickets", "/api/v1/profile")),
                *(http.post("/api/v1/chat", json={"message": "退货运费谁出"}) for _ in range(3)),
                http.post("/api/v1/tickets", json={"subject": "热水器不出热水"}, headers={"Idempotency-Key": "t"}),
            )
            return {response.status_code for response in responses}

        assert await called() == {200, 201}
        assert await dropped(url) > 0
        assert await called() == {200, 201}


async def test_a_pool_whose_connections_were_dropped_reads_and_writes() -> None:
    async with postgres_database() as url:
        database = Database(url)
        try:
            for open_ in (database.read, database.write, database.read):
                async with open_() as connection:
                    assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
                assert await dropped(url) == 1
            assert await database.transact(lambda sync: sync.execute(text("SELECT 1")).scalar_one()) == 1
        finally:
            await database.close()


async def test_a_connection_that_goes_away_within_a_transaction_is_an_outage_and_no_defect() -> None:
    async with postgres_database() as url:
        database = Database(url)
        try:
            with pytest.raises(DatabaseUnavailable):
                async with database.read() as connection:
                    await connection.execute(text("SELECT 1"))
                    await dropped(url)
                    await connection.execute(text("SELECT 1"))
        finally:
            await database.close()


async def test_a_server_that_is_not_there_is_an_outage() -> None:
    database = Database("postgresql+asyncpg://postgres@127.0.0.1:9/none")
    try:
        with pytest.raises(DatabaseUnavailable):
            async with database.read():
                pass
    finally:
        await database.close()
