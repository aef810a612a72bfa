"""What is remembered of who is over a limit."""

from __future__ import annotations

import signal

import pytest

from app.limits.names_over_limit import NamesOverLimit
from app.limits.redis_counters import RedisCounters
from app.limits.types import HOUR, LimitKind, Rate
from app.limits.windows import MemoryCounters, Wanted
from app.redis.server import open_redis
from tests.app.limits.test_limits import Clock
from tests.services import OwnRedis

KEY: Wanted = (LimitKind.KEY, "k", Rate(2, HOUR))
TENANT: Wanted = (LimitKind.TENANT, "t", Rate(3, HOUR))


def test_a_name_is_over_until_it_was_told_and_others_are_not() -> None:
    clock = Clock()
    over = NamesOverLimit(clock)
    assert over.find_first([KEY, TENANT]) is None
    over.record_over(LimitKind.TENANT, "t", 10)
    clock.now += 4
    assert over.find_first([KEY, TENANT]) == (LimitKind.TENANT, 6)
    assert over.find_first([(LimitKind.TENANT, "other", Rate(3)), (LimitKind.KEY, "t", Rate(3))]) is None
    clock.now += 6
    assert over.find_first([TENANT]) is None
    assert not over._until


def test_those_that_were_told_first_are_forgotten() -> None:
    over = NamesOverLimit(Clock(), size=2)
    for name in ("a", "b", "a", "c"):
        over.record_over(LimitKind.KEY, name, 10)
    assert [name for _, name in over._until] == ["a", "c"]


async def test_redis_is_not_asked_about_a_name_that_is_over_until_one_more_would_be_taken(own_redis: OwnRedis) -> None:
    async with open_redis(own_redis.url, "t", 60.0) as server:
        assert server is not None
        clock = Clock()
        counters = RedisCounters(server, MemoryCounters(), NamesOverLimit(clock))
        assert [await counters.count_names([KEY, TENANT]) for _ in range(2)] == [None, None]
        refused = await counters.count_names([KEY, TENANT])
        assert refused is not None and refused[0] is LimitKind.KEY
        own_redis.send(signal.SIGSTOP)
        clock.now += refused[1] - 1
        again = await counters.count_names([KEY, TENANT])
        assert again is not None and again[0] is LimitKind.KEY and again[1] == pytest.approx(1)
        own_redis.send(signal.SIGCONT)
        assert await counters.count_names([TENANT]) is None  # not used up by what was refused
        assert await counters.count_names([TENANT]) is not None
        clock.now += 2  # this clock runs ahead of Redis, which still refuses
        asked = await counters.count_names([KEY])
        assert asked is not None and asked[1] > 2


async def test_a_name_that_is_over_stays_so_while_redis_is_away(own_redis: OwnRedis) -> None:
    async with open_redis(own_redis.url, "t", 60.0) as server:
        assert server is not None
        counters = RedisCounters(server, MemoryCounters())
        assert [await counters.count_names([KEY]) is None for _ in range(3)] == [True, True, False]
        own_redis.kill()
        assert await counters.count_names([TENANT]) is None and server.away
        assert [await counters.count_names([KEY, TENANT]) is None for _ in range(3)] == [False] * 3
        assert [await counters.count_names([TENANT]) is None for _ in range(3)] == [True, True, False]
