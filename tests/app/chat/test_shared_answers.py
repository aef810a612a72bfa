from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from agents.bids import Bid, Rank
from agents.decision import Decision
from agents.places import RelatedPlace
from agents.types import Answer, Button, Done, Meta, Outcome, Page, Source, Token, Usage
from app.chat.hot_cache import HotCache, Version
from app.chat.shared_answers import SharedAnswers
from app.redis.server import open_redis
from tests.app.chat.test_hot_cache import Kitchen, ask, told
from tests.services import REDIS, OwnRedis, redis_prefix

RICH = Answer(
    "三年。",
    Outcome.ANSWERED,
    "knowledge",
    "knowledge",
    0.9,
    sources=(Source(1, "d7", "保修", "", 3, "整机保修三年", 0.9, line="整机保修三年"),),
    suggestions=("怎么报修",),
    related=(RelatedPlace("d1", "报修", "上门时间", 0.3),),
    buttons=(Button("去报修", url="https://example.com"),),
    decision=Decision(("knowledge",), "highest", (Bid("knowledge", 0.9, "evidence", Rank.CLAIMS),)),
    timings_ms={"vector": 1.0},
    usage=Usage(1, 20, 3),
)


async def opened(stack: AsyncExitStack, url: str, prefix: str, kitchen: Kitchen, installation: str = "db") -> HotCache:
    """The cache of one more replica."""
    server = await stack.enter_async_context(open_redis(url, prefix, 60.0))
    assert server is not None
    return HotCache(10, 60.0, kitchen.versions, lambda: kitchen.now, SharedAnswers(server, installation))


@pytest.fixture
async def prefix() -> AsyncIterator[str]:
    async with redis_prefix() as own:
        yield own


async def test_what_one_replica_computed_every_other_gives_whole(prefix: str) -> None:
    kitchen = Kitchen(RICH)
    async with AsyncExitStack() as stack:
        one, other = [await opened(stack, REDIS, prefix, kitchen) for _ in range(2)]
        assert not await ask(kitchen, one)
        served = await kitchen.serve(other, " 保修几年？ ")
        assert served.cached and served.whole
        assert await told(served) == [Meta("knowledge", "knowledge"), Token(RICH.reply), Done(RICH)]
        assert kitchen.started == 1
        stats = other.get_stats("t")
        assert (stats.hits, stats.misses, stats.saved_llm) == (1, 0, Usage(1, 20, 3))
        async with Redis.from_url(REDIS) as client:
            async for key in client.scan_iter(f"{prefix}:answer:*"):
                assert 0 < await client.pttl(key) <= 60_000


@pytest.mark.parametrize(
    "asked", [{"text": "退货"}, {"tenant": "other"}, {"page": Page(title="手机")}, {"version": Version(2, "config")},
              {"version": Version(1, "other")}, {"installation": "another database"}]
)  # fmt: skip
async def test_nothing_is_given_of_another_question_tenant_page_state_or_database(
    prefix: str, asked: dict[str, Any]
) -> None:
    kitchen = Kitchen()
    async with AsyncExitStack() as stack:
        one = await opened(stack, REDIS, prefix, kitchen)
        other = await opened(stack, REDIS, prefix, kitchen, asked.pop("installation", "db"))
        await ask(kitchen, one)
        kitchen.version = asked.pop("version", kitchen.version)
        assert not await ask(kitchen, other, **asked)


async def test_what_is_not_kept_here_is_not_shared(prefix: str) -> None:
    for answer in (
        replace(RICH, outcome=Outcome.NO_EVIDENCE),
        replace(RICH, degraded=("llm",)),
        replace(RICH, computed="x"),
    ):
        kitchen = Kitchen(answer)
        async with AsyncExitStack() as stack:
            one, other = [await opened(stack, REDIS, prefix, kitchen) for _ in range(2)]
            await ask(kitchen, one)
            assert not await ask(kitchen, other)


async def test_whoever_clears_clears_for_all_what_is_being_computed_elsewhere_included(prefix: str) -> None:
    kitchen = Kitchen()
    async with AsyncExitStack() as stack:
        one, other, third = [await opened(stack, REDIS, prefix, kitchen) for _ in range(3)]
        await ask(kitchen, one)
        await other.invalidate("t", question="另一个问题")
        assert not await ask(kitchen, third)
        await other.invalidate("t")
        kitchen.go.clear()
        waiting = asyncio.create_task(told(await kitchen.serve(other)))
        async with asyncio.timeout(60):
            while kitchen.started < 3:  # noqa: ASYNC110 - it waits to be let go
                await asyncio.sleep(0.01)
        await third.invalidate("t")
        kitchen.go.set()
        await waiting
        assert not await ask(kitchen, third)
        await one.invalidate("someone else")
        one.drop_local("t")
        assert await ask(kitchen, one)


async def test_what_cannot_be_read_is_computed_anew(prefix: str) -> None:
    kitchen = Kitchen()
    async with AsyncExitStack() as stack:
        one, other = [await opened(stack, REDIS, prefix, kitchen) for _ in range(2)]
        await ask(kitchen, one)
        async with Redis.from_url(REDIS) as client:
            keys = [key async for key in client.scan_iter(f"{prefix}:answer:*")]
            assert len(keys) == 1
            await client.set(keys[0], b'{"answer": 1}')
        assert not await ask(kitchen, other)
        other.drop_local("t")
        assert await ask(kitchen, other)


async def test_each_goes_on_by_itself_while_redis_is_away() -> None:
    own, kitchen = OwnRedis(), Kitchen()
    await own.start()
    try:
        async with AsyncExitStack() as stack:
            one, other = [await opened(stack, own.url, "t", kitchen) for _ in range(2)]
            own.kill()
            assert not await ask(kitchen, one) and not await ask(kitchen, other)
            assert await ask(kitchen, one) and await ask(kitchen, other)
            assert await one.invalidate("t") == 1
            assert kitchen.started == 2
    finally:
        own.kill()
