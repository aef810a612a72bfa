from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis

from app.db.engine import Database
from app.redis.leader import LEASE_SECONDS, LOOK_SECONDS, Leader
from app.redis.server import open_redis
from tests.services import REDIS, OwnRedis, postgres_database, redis_prefix


@asynccontextmanager
async def replicas(address: str, url: str = "", prefix: str = "") -> AsyncIterator[list[Leader]]:
    """Two, which look when the test says so."""
    async with AsyncExitStack() as stack:
        leaders = []
        for _ in range(2):
            database = Database(address)
            stack.push_async_callback(database.close)
            redis = await stack.enter_async_context(open_redis(url, prefix, 60.0))
            leaders.append(Leader(database, redis))
            stack.push_async_callback(leaders[-1].close)
        yield leaders


def test_a_leader_that_is_killed_is_followed_within_ten_seconds() -> None:
    assert LEASE_SECONDS + LOOK_SECONDS < 10
    assert 2 * LOOK_SECONDS < LEASE_SECONDS, "one look may fail"


async def test_one_leads_until_it_steps_back() -> None:
    async with postgres_database() as address, replicas(address) as (one, other):
        assert [await one.try_lead(), await other.try_lead(), await one.try_lead()] == [True, False, True]
        await one.close()
        assert not one.leads
        assert await other.try_lead()


async def test_the_lock_is_in_redis_and_moves_to_postgresql_while_that_is_away() -> None:
    server = OwnRedis()
    await server.start()
    try:
        async with postgres_database() as address, replicas(address, server.url, "p") as (one, other):
            assert [await one.try_lead(), await other.try_lead()] == [True, False]
            async with Redis.from_url(server.url) as client:
                assert await client.get("p:leader") == one.token.encode()
            server.kill()
            assert [await other.try_lead(), await one.try_lead(), await other.try_lead()] == [True, False, True]
    finally:
        server.kill()


async def test_who_lost_the_lock_in_redis_leads_no_more() -> None:
    async with redis_prefix() as prefix, postgres_database() as address, replicas(address, REDIS, prefix) as (one, two):
        assert await one.try_lead()
        async with Redis.from_url(REDIS) as client:
            await client.delete(f"{prefix}:leader")
        assert [await two.try_lead(), await one.try_lead()] == [True, False]
        assert (two.leads, one.leads) == (True, False)
        await two.close()
        assert await one.try_lead()


async def test_the_only_server_of_a_sqlite_file_leads(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'x.sqlite3'}")
    leader = Leader(database, None)
    leader.start()
    async with asyncio.timeout(60):
        while not leader.leads:  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)
    await leader.close()
    assert not leader.leads
    await database.close()


async def test_a_database_that_is_away_has_no_leader() -> None:
    async with postgres_database() as address, replicas(address) as (one, other):
        assert await one.try_lead()
        assert one._advisory._connection is not None
        await one._advisory._connection.invalidate()  # as when the server ends it
        assert not await one.try_lead()
        assert await other.try_lead() or await one.try_lead()
