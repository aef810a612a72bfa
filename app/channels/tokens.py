"""Access tokens of platforms: fetched once, shared by all replicas until they expire."""

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

# Seconds before its expiry that a token is renewed, or half of its lifetime if that is less.
EARLY = 120.0
# A token, and the seconds that it is valid.
FetchedToken = tuple[str, float]
Result = TypeVar("Result")


class TokenStatus(StrEnum):
    """The state of a token. UNUSED: none was needed yet."""

    UNUSED = "unused"
    VALID = "valid"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class TokenState:
    """seconds: until it expires; error: of the last failed fetch."""

    status: TokenStatus
    seconds: float = 0.0
    error: str = ""


class TokenCache:
    """Tokens of this process, with Redis of all replicas, since some platforms revoke a token when another is fetched.
    clock: monotonic seconds.
    """

    def __init__(self, redis: RedisServer | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._redis = redis
        self._clock = clock
        self._known: dict[str, tuple[str, float]] = {}
        self._errors: dict[str, str] = {}
        self._fetching: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def get_token(self, name: str, fetch: Callable[[], Awaitable[FetchedToken]]) -> str:
        """Returns the token of an account, fetching it if none is valid. Raises the errors of `fetch`."""
        # One fetch at a time: some platforms revoke a token when another one is fetched.
        async with self._fetching.setdefault(name, asyncio.Lock()):
            token, until = self._known.get(name, ("", 0.0))
            if token and self._clock() < until:
                return token
            token, left = await self._read_shared(name)
            if not token:
                token, seconds = await self._fetch_token(name, fetch)
                left = max(seconds - EARLY, seconds / 2)
                await self._write_shared(name, token, left)
            self._known[name] = token, self._clock() + left
            return token

    async def get_state(self, name: str) -> TokenState:
        """Returns the state of an account's token in this process or in all replicas."""
        if error := self._errors.get(name):
            return TokenState(TokenStatus.FAILED, error=error)
        token, until = self._known.get(name, ("", 0.0))
        left = until - self._clock()
        if not token or left <= 0:
            token, left = await self._read_shared(name)
        return TokenState(TokenStatus.VALID, left) if token else TokenState(TokenStatus.UNUSED)

    async def _fetch_token(self, name: str, fetch: Callable[[], Awaitable[FetchedToken]]) -> FetchedToken:
        try:
            fetched = await fetch()
        except ChannelError as error:
            self._errors[name] = describe_error(error)
            raise
        self._errors.pop(name, None)
        return fetched

    async def run_with_token(
        self, name: str, fetch: Callable[[], Awaitable[FetchedToken]], call: Callable[[str], Awaitable[Result]]
    ) -> Result:
        """Runs a call with the token, and once more with a new token if the platform says that it expired.

        Args:
            name: The account.
            fetch: Fetches a token.
            call: The call.

        Returns:
            The result of the call.

        Raises:
            ChannelError: As `fetch` and `call` raise it.
        """
        token = await self.get_token(name, fetch)
        try:
            return await call(token)
        except TokenExpired:
            await self.drop_token(name, token)
            return await call(await self.get_token(name, fetch))

    async def drop_token(self, name: str, token: str) -> None:
        """Forgets a token that the platform does not accept any more; a newer one stays."""
        if self._known.get(name, ("",))[0] == token:
            del self._known[name]
        if (await self._read_shared(name))[0] == token:
            await self._write_shared(name, "", 0.0)

    async def _read_shared(self, name: str) -> FetchedToken:
        """Returns the token that another replica fetched; empty if there is none."""

        async def read_shared(client: Redis) -> FetchedToken:
            key = self._build_key(name)
            token, left = await client.get(key), await client.pttl(key)
            return (token.decode(), left / 1000) if token and left > 0 else ("", 0.0)

        return await self._redis.ask(read_shared, ("", 0.0)) if self._redis else ("", 0.0)

    async def _write_shared(self, name: str, token: str, seconds: float) -> None:
        async def write_shared(client: Redis) -> None:
            if token:
                await client.set(self._build_key(name), token, px=max(int(seconds * 1000), 1))
            else:
                await client.delete(self._build_key(name))

        if self._redis:
            await self._redis.ask(write_shared, None)

    def _build_key(self, name: str) -> str:
        assert self._redis is not None
        return self._redis.build_key("channel-token", name)
