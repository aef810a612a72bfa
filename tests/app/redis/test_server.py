from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from loguru import logger
from redis.asyncio import Redis

from app.limits.redis_counters import RedisCounters
from app.limits.types import HOUR, LimitKind, Rate
from app.limits.windows import MemoryCounters, Wanted
from app.redis.server import RedisServer, open_redis
from app.settings import load_settings
from knowledge.errors import InvalidConfiguration, MissingDependency
from tests.app.serving import served
from tests.services import REDIS, OwnRedis, redis_prefix

WANTED: list[Wanted] = [(LimitKind.KEY, "k", Rate(2, HOUR))]
MORE: list[Wanted] = [(LimitKind.KEY, "more", Rate(2, HOUR))]


@pytest.fixture
def told() -> Iterator[list[str]]:
    lines = list[str]()
    handler = logger.add(lambda line: lines.append(str(line)), format="{message}", filter="app.redis")
    yield lines
    logger.remove(handler)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.05)


async def taken(counters: RedisCounters, times: int, wanted: list[Wanted] = WANTED) -> int:
    return [await counters.count_names(wanted) for _ in range(times)].count(None)


async def test_a_server_that_dies_is_done_without_and_used_again_once_it_is_back(
    own_redis: OwnRedis, told: list[str]
) -> None:
    async with open_redis(own_redis.url, "t", 60.0) as first, open_redis(own_redis.url, "t", 60.0) as second:
        assert first is not None and second is not None
        counters = [RedisCounters(server, MemoryCounters()) for server in (first, second)]
        assert [await taken(one, 2) for one in counters] == [2, 0]
        own_redis.kill()
        assert [await taken(one, 5, MORE) for one in counters] == [2, 2]  # each by itself
        assert first.away and second.away
        assert len(told) == 2 and all("away" in line for line in told)
        await own_redis.start()
        await until(lambda: not first.away and not second.away)
        assert [await taken(one, 2) for one in counters] == [2, 0]
        assert [server.outages for server in (first, second)] == [1, 1]
        assert len(told) == 4 and all("back" in line for line in told[2:])


async def test_nobody_waits_long_for_one_that_hangs_and_only_the_first_waits_at_all(own_redis: OwnRedis) -> None:
    async with open_redis(own_redis.url, "t", 2.0) as server:
        assert server is not None
        counters, asked = RedisCounters(server, MemoryCounters()), list[object]()
        own_redis.send(signal.SIGSTOP)
        assert await taken(counters, 5) == 2
        assert server.away

        async def work(client: object) -> None:
            asked.append(client)

        await server.ask(work, None)
        assert asked == []
        own_redis.send(signal.SIGCONT)
        await until(lambda: not server.away)
        await server.ask(work, None)
        assert len(asked) == 1


async def test_one_that_takes_no_writes_is_away_until_it_does(own_redis: OwnRedis) -> None:
    async with open_redis(own_redis.url, "t", 60.0) as server:
        assert server is not None
        counters = RedisCounters(server, MemoryCounters())
        await server._client.config_set("min-replicas-to-write", "1")
        assert await taken(counters, 5) == 2
        for _ in range(3):
            assert server.away
            with pytest.raises(Exception, match="NOREPLICAS"):
                await server._probe()
        await server._client.config_set("min-replicas-to-write", "0")
        await until(lambda: not server.away)
        assert server.outages == 1


async def test_the_service_starts_without_it_says_so_and_counts_together_once_it_is_there(tmp_path: Path) -> None:
    own_redis, key = OwnRedis(), "a-key-of-the-test-of-redis"
    options = {"redis_url": own_redis.url, "redis_timeout": 5.0, "api_key": key, "rate_per_key": 3}
    try:
        async with (
            served(tmp_path / "a", **options) as one,
            served(tmp_path / "b", **options) as other,
            httpx.AsyncClient(headers={"X-API-Key": key}, timeout=120) as http,
        ):
            both = one.container.redis, other.container.redis
            assert all(server is not None and server.away for server in both)
            metrics = (await http.get(f"{one.address}/metrics")).text
            assert "yingda_redis_up 0.0" in metrics and "yingda_redis_outages_total 1.0" in metrics
            await until(lambda: one.container.startup.ready.is_set() and other.container.startup.ready.is_set())
            ready = (await http.get(f"{one.address}/api/v1/health/ready")).json()
            assert ready["degraded"] == ["redis"]
            await own_redis.start()
            await until(lambda: not any(server is None or server.away for server in both))
            assert (await http.get(f"{one.address}/api/v1/health/ready")).json()["degraded"] == []
            asked = [await http.get(f"{each.address}/api/v1/tickets") for _ in range(3) for each in (one, other)]
            assert sorted(reply.status_code for reply in asked) == [200] * 3 + [429] * 3
    finally:
        own_redis.kill()


@pytest.mark.parametrize("url", ["127.0.0.1:6379", "http://127.0.0.1", "redis://", "redis://host:port", "unix:"])
def test_what_is_no_address_is_refused_by_name(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(InvalidConfiguration, match="REDIS_URL"):
        load_settings()


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(MissingDependency, match="pip install redis"):
        RedisServer("redis://127.0.0.1", "t", 0.1)


async def test_an_answer_that_waits_for_a_busy_process_to_read_it_is_in_time() -> None:
    async with redis_prefix() as prefix, open_redis(REDIS, prefix, 0.2) as server:
        assert server is not None
        await server.ask(answered, "this process")  # connects
        asking = asyncio.create_task(server.ask(answered, "this process"))
        await asyncio.sleep(0)
        time.sleep(0.5)  # noqa: ASYNC251 - this process is busy
        assert await asking == "redis"
        assert not server.away


async def answered(client: Redis) -> str:
    await client.ping()
    return "redis"
