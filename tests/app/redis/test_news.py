from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from redis.asyncio import Redis

from app.redis.news import News
from app.redis.server import open_redis
from tests.app.serving import served
from tests.services import REDIS, OwnRedis, postgres_database, redis_prefix


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not true():  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.02)


class Heard:
    """What one replica was told."""

    def __init__(self) -> None:
        self.moved, self.cleared = list[str](), list[str]()


@asynccontextmanager
async def replica(url: str, prefix: str) -> AsyncIterator[tuple[News, Heard]]:
    heard = Heard()
    async with open_redis(url, prefix, 60.0) as server:
        assert server is not None
        news = News(server, heard.moved.append, heard.cleared.append)
        news.start()
        try:
            yield news, heard
        finally:
            await news.close()


async def test_the_others_are_told_and_nobody_hears_itself_or_another_installation() -> None:
    async with (
        redis_prefix() as prefix,
        replica(REDIS, prefix) as (one, own),
        replica(REDIS, prefix) as (two, other),
        replica(REDIS, f"{prefix}-x") as (three, foreign),
    ):
        await asyncio.gather(*(news.listens.wait() for news in (one, two, three)))
        async with Redis.from_url(REDIS) as client:
            for text in ("nonsense", '["x", "unheard of", "t"]', "[]", "7"):
                await client.publish(f"{prefix}:news", text)
        one.send_moved("租户", 3)
        one.send_cleared("t")
        two.send_moved("back", 4)
        await until(lambda: bool(other.moved and other.cleared and own.moved))
        assert (other.moved, other.cleared) == (["租户"], ["t"])
        assert (own.moved, own.cleared) == (["back"], [])
        assert (foreign.moved, foreign.cleared) == ([], [])


async def test_it_listens_again_once_redis_is_back() -> None:
    own = OwnRedis()
    try:
        async with replica(own.url, "t") as (one, _), replica(own.url, "t") as (two, heard):
            one.send_moved("nobody hears it", 1)
            await own.start()
            await asyncio.gather(one.listens.wait(), two.listens.wait())
            own.kill()
            await until(lambda: not two.listens.is_set())
            await own.start()
            await asyncio.wait_for(two.listens.wait(), 120)
            await until(lambda: not one._broadcast._server.away)
            one.send_moved("t", 2)
            await until(lambda: bool(heard.moved))
            assert heard.moved == ["t"]
    finally:
        own.kill()


async def test_a_change_and_a_cleared_cache_reach_the_other_replica_without_asking_sql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.indexing.indexer.POLL_SECONDS", 3600.0)
    async with postgres_database() as url, redis_prefix() as prefix:
        options = {"database_url": url, "redis_url": REDIS, "redis_prefix": prefix, "redis_timeout": 5.0}
        async with (
            served(tmp_path / "a", **options) as one,
            served(tmp_path / "b", **options) as other,
            httpx.AsyncClient(timeout=120) as http,
        ):
            both = one.container, other.container
            for container in both:
                assert container.news is not None
                await asyncio.wait_for(container.news.listens.wait(), 120)
                await asyncio.wait_for(container.startup.ready.wait(), 120)
            indexes = [await container.base.open_index("default") for container in both]
            before = indexes[1].get_snapshot().revision
            entry = {"question": "保修几年", "answer": "整机保修三年。"}
            made = await http.post(f"{one.address}/api/v1/knowledge/faqs", json=entry)
            assert made.status_code == 201
            after = indexes[0].get_snapshot().revision
            assert after > before
            await until(lambda: indexes[1].get_snapshot().revision == after)
            asked = {"message": "保修几年"}
            replies = [(await http.post(f"{each.address}/api/v1/chat", json=asked)).json() for each in (one, other)]
            assert {reply["reply"] for reply in replies} == {"整机保修三年。[1]"}
            cleared = await http.post(f"{other.address}/api/v1/performance/cache/invalidate")
            assert cleared.status_code == 200
            await until(lambda: one.container.hot_cache.count_entries("default") == 0)
