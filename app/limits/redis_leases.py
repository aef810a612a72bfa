"""How much is open at once, at all replicas together: in Redis.

What is open is a member of a sorted set, with the moment until which it counts. Its process moves that moment on while
it is open; what a process held that died lapses, SECONDS later at most. While Redis is away each process counts its
own, and when Redis is back the next round puts down everything that is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from app.ids import create_id
from app.limits.leases import Lease, LeaseRequest, MemoryLeases
from app.limits.redis_counters import name_in_redis
from app.limits.types import LimitKind
from app.redis.server import RedisServer
from app.tasks import stop_tasks

if TYPE_CHECKING:
    from redis.asyncio import Redis

# How long a lease counts that nobody renews, and how often they are renewed.
SECONDS, ROUND_SECONDS = 30.0, 10.0
# Leases of one command.
_AT_ONCE = 500
TAKE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local id, seconds, beyond = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local most = tonumber(ARGV[3 + i])
  if not beyond and most > 0 and redis.call('ZCARD', key) >= most then
    return i
  end
end
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + seconds, id)
  redis.call('PEXPIRE', key, math.ceil(seconds * 1000))
end
return 0
"""
# Renews leases for so many seconds, or gives them back for none.
KEEP = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local seconds = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  if seconds > 0 then
    redis.call('ZADD', key, now + seconds, ARGV[1 + i])
    redis.call('PEXPIRE', key, math.ceil(seconds * 1000))
  else
    redis.call('ZREM', key, ARGV[1 + i])
  end
end
"""


class RedisLeases:
    """See `Leases`: of all replicas. What this process has open is counted here as well, so that it is known without
    asking, and goes on while Redis is away.
    """

    def __init__(self, server: RedisServer, seconds: float = SECONDS, round_seconds: float = ROUND_SECONDS) -> None:
        self._server = server
        self._seconds, self._round_seconds = seconds, round_seconds
        self._own = MemoryLeases()
        # Id of a lease -> the keys that it is a member of.
        self._open: dict[str, list[str]] = {}
        # The same of those that Redis has not been told of yet.
        self._closed: dict[str, list[str]] = {}
        self._telling: asyncio.Task[None] | None = None
        self._renewing: asyncio.Task[None] | None = None

    async def acquire(self, wanted: Sequence[LeaseRequest], *, beyond: bool = False) -> Lease | LimitKind:
        """See `Leases.acquire`."""
        own = self._own.acquire_now(wanted, beyond=beyond)
        if not isinstance(own, Lease):  # more than this process has is more than all have
            return own
        name, keys = create_id(), [self._build_key(kind, of) for kind, of, _ in wanted]
        bounds = [most for *_, most in wanted]

        async def acquire_in_redis(client: Redis) -> int:
            told = (name, self._seconds, int(beyond), *bounds)
            return int(await client.eval(TAKE, len(keys), *keys, *told))  # type: ignore[arg-type, misc]

        try:
            refused = await self._server.ask(acquire_in_redis, 0)  # away: what this process counts decides
        except BaseException:
            own.release()
            self._return_later(name, keys)  # the caller may have left just as it was written down
            raise
        if refused:
            own.release()
            return wanted[refused - 1][0]
        self._open[name] = keys
        if self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_leases(), name="leases")
        return Lease(lambda: self._release(own, name))

    def count_held(self, kind: LimitKind, name: Hashable) -> int:
        """See `Leases.count_held`."""
        return self._own.count_held(kind, name)

    async def close(self) -> None:
        """Tells Redis of what was closed; what is open still lapses."""
        await stop_tasks(self._renewing)
        if self._telling is not None:
            await self._telling

    def _release(self, own: Lease, name: str) -> None:
        own.release()
        self._return_later(name, self._open.pop(name))

    def _return_later(self, name: str, keys: list[str]) -> None:
        """Returns leases to Redis soon, together with others that end at about the same time, since nobody waits for
        it.
        """
        self._closed[name] = keys
        if self._telling is None:
            self._telling = asyncio.create_task(self._send_returned(), name="leases")

    async def _send_returned(self) -> None:
        while self._closed:
            closed, self._closed = self._closed, {}
            await self._keep_leases(closed, 0)
        self._telling = None

    async def _renew_leases(self) -> None:
        while True:
            await asyncio.sleep(self._round_seconds)
            before = dict(self._open)
            await self._keep_leases(before, self._seconds)
            for name in before.keys() - self._open.keys():  # closed meanwhile, and perhaps written down again
                self._return_later(name, before[name])

    async def _keep_leases(self, leases: dict[str, list[str]], seconds: float) -> None:
        pairs = [(key, name) for name, keys in leases.items() for key in keys]
        for start in range(0, len(pairs), _AT_ONCE):
            keys, names = zip(*pairs[start : start + _AT_ONCE], strict=True)

            async def run_part(client: Redis, keys: tuple[str, ...] = keys, names: tuple[str, ...] = names) -> None:
                await client.eval(KEEP, len(keys), *keys, seconds, *names)  # type: ignore[arg-type, misc]

            await self._server.ask(run_part, None)  # away: they lapse there by themselves

    def _build_key(self, kind: LimitKind, name: Hashable) -> str:
        return self._server.build_key("open", kind, name_in_redis(name))
