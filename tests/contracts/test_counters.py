from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.limits.redis_counters import RedisCounters
from app.limits.types import HOUR, LimitKind, Rate
from app.limits.windows import Counters, MemoryCounters
from app.redis.server import RedisServer, open_redis
from tests.contracts.counters import CountersContract
from tests.services import REDIS, redis_prefix

PATIENT = 60.0


class TestMemory(CountersContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Counters]:
        yield MemoryCounters()


class TestRedis(CountersContract):
    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Counters]:
        async with redis_prefix() as prefix, open_redis(REDIS, prefix, PATIENT) as server:
            assert server is not None
            yield RedisCounters(server, MemoryCounters())
            assert (server.away, server.outages) == (False, 0)


async def test_replicas_count_together_and_installations_apart() -> None:
    async with AsyncExitStack() as stack:
        prefixes = [await stack.enter_async_context(redis_prefix()) for _ in range(2)]
        servers = list[RedisServer]()
        for prefix in (*prefixes, prefixes[0]):
            server = await stack.enter_async_context(open_redis(REDIS, prefix, PATIENT))
            assert server is not None
            servers.append(server)
        one, other, replica = (RedisCounters(server, MemoryCounters()) for server in servers)
        wanted = [(LimitKind.ADDRESS, ("t", "203.0.113.9"), Rate(4, HOUR))]
        taken = [await counters.count_names(wanted) is None for counters in (one, replica, one, replica, one, replica)]
        assert taken == [True] * 4 + [False] * 2
        assert await other.count_names(wanted) is None
