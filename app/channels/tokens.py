"""Access tokens of platforms: fetched once, used by all replicas until they run out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from app.channels.errors import ChannelError, TokenExpired, describe_error

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from app.redis.server import RedisServer

EARLY = 120.0
"""Seconds that a token is renewed before its time, or half of its time where that is less."""
Fetched = tuple[str, float]
"""A token, and the seconds that it counts."""
Result = TypeVar("Result")


class TokenStatus(StrEnum):
    """How it stands with a token. UNUSED: nobody needed one yet."""

    UNUSED = "unused"
    VALID = "valid"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TokenState:
    """seconds: that it still counts; error: of the last time that it was asked for in vain."""

    status: TokenStatus
    seconds: float = 0.0
    error: str = ""


class TokenCache:
    """In this process, and with Redis for all replicas, since some platforms take a token back when another is asked
    for. clock: monotonic seconds.
    """

    def __init__(self, redis: RedisServer | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._clock = clock
        self._known: dict[str, tuple[str, float]] = {}
        self._errors: dict[str, str] = {}
        self._fetching: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def get(self, name: str, fetch: Callable[[], Awaitable[Fetched]]) -> str:
        """The token of a name, fetched where there is none that counts. Raises what `fetch` raises."""
        async with self._fetching.setdefault(name, asyncio.Lock()):
            token, until = self._known.get(name, ("", 0.0))
            if token and self._clock() < until:
                return token
            token, left = await self._shared(name)
            if not token:
                token, seconds = await self._fetch(name, fetch)
                left = max(seconds - EARLY, seconds / 2)
                await self._share(name, token, left)
            self._known[name] = token, self._clock() + left
            return token

    async def state(self, name: str) -> TokenState:
        """As this process knows it, or all replicas."""
        if error := self._errors.get(name):
            return TokenState(TokenStatus.FAILED, error=error)
        token, until = self._known.get(name, ("", 0.0))
        left = until - self._clock()
        if not token or left <= 0:
            token, left = await self._shared(name)
        return TokenState(TokenStatus.VALID, left) if token else TokenState(TokenStatus.UNUSED)

    async def _fetch(self, name: str, fetch: Callable[[], Awaitable[Fetched]]) -> Fetched:
        try:
            fetched = await fetch()
        except ChannelError as error:
            self._errors[name] = describe_error(error)
            raise
        self._errors.pop(name, None)
        return fetched

    async def use(
        self, name: str, fetch: Callable[[], Awaitable[Fetched]], work: Callable[[str], Awaitable[Result]]
    ) -> Result:
        """Does something with the token, once more with a new one where the platform does not take it any more. Raises
        what both raise.
        """
        token = await self.get(name, fetch)
        try:
            return await work(token)
        except TokenExpired:
            await self.drop(name, token)
            return await work(await self.get(name, fetch))

    async def drop(self, name: str, token: str) -> None:
        """A platform does not take the token any more; a newer one stays."""
        if self._known.get(name, ("",))[0] == token:
            del self._known[name]
        if (await self._shared(name))[0] == token:
            await self._share(name, "", 0.0)

    async def _shared(self, name: str) -> Fetched:
        """What another replica fetched; empty for nothing."""

        async def read(client: Redis) -> Fetched:
            key = self._key(name)
            token, left = await client.get(key), await client.pttl(key)
            return (token.decode(), left / 1000) if token and left > 0 else ("", 0.0)

        return await self._redis.ask(read, _nothing) if self._redis else ("", 0.0)

    async def _share(self, name: str, token: str, seconds: float) -> None:
        async def write(client: Redis) -> Fetched:
            if token:
                await client.set(self._key(name), token, px=max(int(seconds * 1000), 1))
            else:
                await client.delete(self._key(name))
            return "", 0.0

        if self._redis:
            await self._redis.ask(write, _nothing)

    def _key(self, name: str) -> str:
        assert self._redis is not None
        return self._redis.build_key("channel-token", name)


async def _nothing() -> Fetched:
    return "", 0.0
