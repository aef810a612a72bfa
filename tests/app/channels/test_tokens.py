from __future__ import annotations

import asyncio

import pytest

from app.channels.errors import PlatformRefused, TokenExpired
from app.channels.tokens import EARLY, FetchedToken, TokenCache, TokenStatus
from app.redis.server import open_redis
from tests.services import OwnRedis


class Issuer:
    """Gives out tokens, numbered."""

    def __init__(self, seconds: float = 7200.0) -> None:
        self.count = 0
        self._seconds = seconds

    async def fetch(self) -> tuple[str, float]:
        self.count += 1
        await asyncio.sleep(0)
        return f"t{self.count}", self._seconds


async def test_those_who_come_at_once_fetch_one() -> None:
    issuer, cache = Issuer(), TokenCache()
    assert set(await asyncio.gather(*(cache.get_token("a", issuer.fetch) for _ in range(5)))) == {"t1"}
    assert await cache.get_token("b", issuer.fetch) == "t2"


async def test_a_token_is_renewed_before_its_time() -> None:
    moment = [0.0]
    issuer, cache = Issuer(), TokenCache(clock=lambda: moment[0])
    assert await cache.get_token("a", issuer.fetch) == "t1"
    moment[0] = 7200 - EARLY + 1
    assert await cache.get_token("a", issuer.fetch) == "t2"


async def test_a_newer_token_is_not_dropped_for_an_older_one() -> None:
    issuer, cache = Issuer(), TokenCache()
    await cache.get_token("a", issuer.fetch)
    await cache.drop_token("a", "t0")
    assert await cache.get_token("a", issuer.fetch) == "t1"
    await cache.drop_token("a", "t1")
    assert await cache.get_token("a", issuer.fetch) == "t2"


async def test_replicas_share_a_token_and_its_end(own_redis: OwnRedis) -> None:
    issuer = Issuer()
    async with open_redis(own_redis.url, "t", 1.0) as one, open_redis(own_redis.url, "t", 1.0) as two:
        first, second = TokenCache(one), TokenCache(two)
        assert [await cache.get_token("a", issuer.fetch) for cache in (first, second)] == ["t1", "t1"]

        async def refuse(token: str) -> str:
            if token == "t1":
                raise TokenExpired("42001")
            return token

        assert await first.run_with_token("a", issuer.fetch, refuse) == "t2"
        assert await second.run_with_token("a", issuer.fetch, refuse) == "t2"
        assert issuer.count == 2


async def test_it_is_told_how_a_token_stands() -> None:
    cache = TokenCache()
    assert (await cache.get_state("shop")).status is TokenStatus.UNUSED

    async def refuse() -> FetchedToken:
        raise PlatformRefused("40013 invalid appid")

    async def give() -> FetchedToken:
        return "t1", 7200.0

    with pytest.raises(PlatformRefused):
        await cache.get_token("shop", refuse)
    failed = await cache.get_state("shop")
    assert (failed.status, "40013" in failed.error) == (TokenStatus.FAILED, True)
    await cache.get_token("shop", give)
    state = await cache.get_state("shop")
    assert state.status is TokenStatus.VALID
    assert 7000 < state.seconds <= 7200
