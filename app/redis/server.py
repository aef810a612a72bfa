"""A Redis that replicas share, asked with bounded patience.

While it is away nobody waits for it: what it would have done is done in this process, and it comes back by itself. Its
state is in `away`, in readiness and in metrics; the log has a line when it goes and one when it comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from loguru import logger

from app.tasks import stop_tasks
from knowledge.errors import InvalidConfiguration, MissingDependency

if TYPE_CHECKING:
    from redis.asyncio import Redis

Result = TypeVar("Result")
Other = TypeVar("Other")

# Of a process at once; a command takes some tenths of a millisecond.
CONNECTIONS = 32
# How often it is looked whether it is back.
LOOK_SECONDS = 0.5
# Of the event loop, that an answer has at least.
ROUNDS = 5
# How long a look may take to connect; nobody waits for that.
CONNECT_SECONDS = 2.0


class RedisServer:
    """One Redis. prefix: of all its keys; patience: seconds that a call waits at most."""

    def __init__(self, url: str, prefix: str, patience: float) -> None:
        """Connects at the first call. Raises MissingDependency, InvalidConfiguration."""
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.exceptions import RedisError
        except ImportError as error:
            raise MissingDependency("REDIS_URL 需要 redis 包：pip install redis==6.4.0") from error
        try:
            pool = BlockingConnectionPool.from_url(
                url, max_connections=CONNECTIONS, timeout=None, retry=Retry(NoBackoff(), 0)
            )
        except ValueError as error:
            raise InvalidConfiguration("REDIS_URL 不是 Redis 的地址，例如 redis://redis.example.com:6379/0") from error
        self._client: Redis = Redis.from_pool(pool)
        # What is raised where it is away.
        self.failures = (RedisError, OSError, TimeoutError)
        self._prefix = prefix
        self._patience = patience
        self._looking: asyncio.Task[None] | None = None
        # How often it went away since the start.
        self.outages = 0

    @property
    def away(self) -> bool:
        """Whether this process goes on by itself."""
        return self._looking is not None

    def build_key(self, *parts: str) -> str:
        """The name of something of this installation."""
        return ":".join((self._prefix, *parts))

    async def start(self) -> None:
        """Looks whether it is there; where it is not, all begins without it."""
        try:
            await self._probe()
        except self.failures as error:
            self._mark_away(error)

    async def ask(self, work: Callable[[Redis], Awaitable[Result]], otherwise: Other) -> Result | Other:
        """What `work` gives, or `otherwise` while Redis is away or does not answer in time."""
        if not self.away:
            try:
                async with limit_time(self._patience):
                    return await work(self._client)
            except self.failures as error:
                self._mark_away(error)
        return otherwise

    async def subscribe(self, channel: str, ready: Callable[[], None], heard: Callable[[bytes], None]) -> None:
        """Calls `ready` once it listens to a channel, and `heard` with each message. Raises one of `failures` when the
        connection ends.
        """
        async with self._client.pubsub() as listening:
            await listening.subscribe(channel)
            async for message in listening.listen():
                if message["type"] == "subscribe":
                    ready()
                elif message["type"] == "message":
                    heard(message["data"])

    async def close(self) -> None:
        """Lets the connections go."""
        await stop_tasks(self._looking)
        with suppress(*self.failures):  # it may be away, and then there is nothing to close
            await self._client.aclose(close_connection_pool=True)

    def _mark_away(self, error: Exception) -> None:
        if self.away:
            return
        self.outages += 1
        logger.warning("Redis is away, this process goes on by itself: {}", str(error) or type(error).__name__)
        self._looking = asyncio.create_task(self._wait(), name="redis")

    async def _wait(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                await self._probe()
            except self.failures:
                continue
            logger.info("Redis is back")
            self._looking = None
            return

    async def _probe(self) -> None:
        """Raises what is wrong: it has to take a write, and as fast as a call may take."""
        await self._client.connection_pool.disconnect(inuse_connections=False)
        async with asyncio.timeout(CONNECT_SECONDS):
            await self._client.echo("there")
        async with asyncio.timeout(self._patience):
            await self._client.set(self.build_key("there"), 1, px=1000)


@asynccontextmanager
async def limit_time(seconds: float) -> AsyncIterator[None]:
    """Raises TimeoutError after so long, but never before the event loop came round ROUNDS times: in a process that is
    busy an answer may be there and wait to be read, and that Redis is well.
    """
    loop, left = asyncio.get_running_loop(), ROUNDS
    async with asyncio.timeout(None) as limit:
        due: asyncio.TimerHandle

        def extend_limit() -> None:
            nonlocal left, due
            left -= 1
            if left:
                due = loop.call_later(seconds / ROUNDS, extend_limit)
            else:
                limit.reschedule(loop.time())

        due = loop.call_later(seconds / ROUNDS, extend_limit)
        try:
            yield
        finally:
            due.cancel()


@asynccontextmanager
async def open_redis(url: str, prefix: str, patience: float) -> AsyncIterator[RedisServer | None]:
    """See `RedisServer`; None without an address. Raises MissingDependency, InvalidConfiguration."""
    if not url:
        yield None
        return
    server = RedisServer(url, prefix, patience)
    try:
        await server.start()
        yield server
    finally:
        await server.close()
