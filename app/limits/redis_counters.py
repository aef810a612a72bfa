"""How often something happened lately, at all replicas together: in Redis."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import Any

from app.limits.names_over_limit import NamesOverLimit
from app.limits.types import LimitKind
from app.limits.windows import Counters, Wanted, wait_for
from app.redis.server import RedisServer

# In the place of a reply, where there is none.
_AWAY = "away"
# The windows of `MemoryCounters.count`, by the clock of Redis; one step, whoever else counts at the same moment.
SCRIPT = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
for i, key in ipairs(KEYS) do
  local most, seconds = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local at = now / seconds
  local index = math.floor(at)
  local kept = redis.call('HMGET', key, 'index', 'count', 'before')
  local began, count, before = tonumber(kept[1]), tonumber(kept[2]) or 0, tonumber(kept[3]) or 0
  if began ~= index then
    before = began and index - began == 1 and count or 0
    count = 0
  end
  local left = 1 - at + index
  if before * left + count + 1 > most then
    return {i, count, before, string.format('%.9f', left)}
  end
  redis.call('HSET', key, 'index', string.format('%d', index), 'count', count + 1, 'before', before)
  redis.call('PEXPIRE', key, math.ceil(seconds * 2000))
end
return false
"""


class RedisCounters:
    """See `Counters`: of all replicas; `alone` counts while Redis is away. Names are kept as digests, since some of
    them are addresses and members; they are forgotten after two windows.

    Redis is not asked about a name that it said is over its limit, which took a third of what a refusal costs; such a
    name stays refused while Redis is away, too.
    """

    def __init__(self, server: RedisServer, alone: Counters, over: NamesOverLimit | None = None) -> None:
        self._server = server
        self._alone = alone
        self._over = over or NamesOverLimit()

    async def count_names(self, wanted: Sequence[Wanted]) -> tuple[LimitKind, float] | None:
        """See `Counters.count_names`."""
        limited = [one for one in wanted if one[2].count]
        if not limited:
            return None
        if known := self._over.find_first(limited):
            return known
        keys = [self._build_key(kind, name) for kind, name, _ in limited]
        bounds = [bound for *_, rate in limited for bound in (rate.count, rate.seconds)]
        reply: Any = await self._server.ask(lambda client: client.eval(SCRIPT, len(keys), *keys, *bounds), _AWAY)  # type: ignore[arg-type, return-value]
        if reply == _AWAY:
            return await self._alone.count_names(limited)
        if reply is None:
            return None
        number, count, before, left = reply
        kind, name, rate = limited[number - 1]
        wait = wait_for(count, before, float(left), rate)
        self._over.record_over(kind, name, wait)
        return kind, wait

    def _build_key(self, kind: LimitKind, name: Hashable) -> str:
        return self._server.build_key("limit", kind, name_in_redis(name))


def name_in_redis(name: Hashable) -> str:
    """Returns a digest of what is counted, since some names are addresses and ids of members."""
    return hashlib.sha256(repr(name).encode("utf-8", "replace")).hexdigest()[:32]
