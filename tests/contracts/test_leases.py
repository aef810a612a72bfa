from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.limits.leases import Lease, Leases, MemoryLeases
from app.limits.redis_leases import RedisLeases
from app.redis.server import RedisServer, open_redis
from tests.contracts.leases import STREAMS, LeasesContract, leased
from tests.services import REDIS, OwnRedis, redis_prefix

PATIENT = 60.0
WANTED = [(STREAMS, ("key", "a"), 2)]


@asynccontextmanager
async def replica(url: str, prefix: str, **times: float) -> AsyncIterator[tuple[RedisServer, RedisLeases]]:
    async with open_redis(url, prefix, PATIENT) as server:
        assert server is not None
        leases = RedisLeases(server, **times)
        try:
            yield server, leases
        finally:
            await leases.close()


class TestMemory(LeasesContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Leases]:
        yield MemoryLeases()


class TestRedis(LeasesContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Leases]:
        async with redis_prefix() as prefix, replica(REDIS, prefix) as (server, leases):
            yield leases
            assert (server.away, server.outages) == (False, 0)


async def taken_again(leases: Leases) -> Lease:
    async with asyncio.timeout(60):
        while not isinstance(told := await leases.acquire(WANTED), Lease):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return told


async def test_replicas_count_together_what_is_renewed_stays_and_what_a_dead_one_held_lapses() -> None:
    async with redis_prefix() as prefix, AsyncExitStack() as stack:
        times = {"seconds": 1.0, "round_seconds": 0.2}
        _, living = await stack.enter_async_context(replica(REDIS, prefix, **times))
        _, dying = await stack.enter_async_context(replica(REDIS, prefix, **times))
        kept = leased(await living.acquire(WANTED))
        leased(await dying.acquire(WANTED))
        assert await living.acquire(WANTED) is STREAMS and await dying.acquire(WANTED) is STREAMS
        await asyncio.sleep(1.5)
        assert await living.acquire(WANTED) is STREAMS, "both are renewed"
        await dying.close()  # as when its process ends: nobody renews what it had
        leased(await taken_again(living))
        assert await living.acquire(WANTED) is STREAMS, "what the living one holds still counts"
        kept.release()


async def test_while_redis_is_away_each_counts_its_own_and_all_is_counted_again_when_it_is_back() -> None:
    redis = OwnRedis()
    await redis.start()
    try:
        async with AsyncExitStack() as stack:
            times = {"seconds": 30.0, "round_seconds": 0.2}
            one, first = await stack.enter_async_context(replica(redis.url, "test", **times))
            other, second = await stack.enter_async_context(replica(redis.url, "test", **times))
            leased(await first.acquire(WANTED))
            redis.kill()
            leased(await second.acquire(WANTED))
            leased(await second.acquire(WANTED))
            assert await second.acquire(WANTED) is STREAMS, "its own are bounded all the same"
            await redis.start()
            async with asyncio.timeout(60):
                while one.away or other.away:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            _, third = await stack.enter_async_context(replica(redis.url, "test"))
            async with asyncio.timeout(60):
                while isinstance(told := await third.acquire(WANTED), Lease):
                    told.release()
                    await asyncio.sleep(0.05)
    finally:
        redis.kill()
