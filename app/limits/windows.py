"""How often something happened lately, in the memory of this process.

Two counters a name, the older one weighted by how much of its window still counts (the sliding window counter of
Cloudflare's "How we built rate limiting", 2017): constant memory and about a microsecond a request. The
`limits` package (5.8) was tried: its memory storage has no bound on names and needs ten times as long with 20,000 of
them, and in Redis it asks once a name and not once a request.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Protocol

from app.limits.types import LimitKind, Rate

# Of each kind; beyond them those are forgotten that were not heard of for the longest time. Some 5 MB.
MAX_NAMES = 20_000
# One more of a kind, of a name, within a rate.
Wanted = tuple[LimitKind, Hashable, Rate]


class Counters(Protocol):
    """Where requests are counted; shared by all processes of a fleet, or of this one."""

    async def count_names(self, wanted: Sequence[Wanted]) -> tuple[LimitKind, float] | None:
        """Counts one more of each. At the first that is too much it stops: the kind, and the seconds until one more
        would be taken.
        """


class MemoryCounters:
    """See `Counters`: of this process alone. The kinds do not displace each other. clock: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, size: int = MAX_NAMES) -> None:
        self._clock = clock
        self._size = size
        self._kinds: dict[LimitKind, OrderedDict[Hashable, list[float]]] = {kind: OrderedDict() for kind in LimitKind}

    def count(self, kind: LimitKind, name: Hashable, rate: Rate) -> float:
        """Counts one more and returns 0.0, or the seconds until one more would be taken; then it is not counted."""
        if not rate.count:
            return 0.0
        at = self._clock() / rate.seconds
        index = at // 1
        windows = self._kinds[kind]
        window = windows.get(name)
        if window is None:
            windows[name] = [index, 1, 0]
            if len(windows) > self._size:
                windows.popitem(last=False)
            return 0.0
        windows.move_to_end(name)
        began, count, before = window
        if began != index:
            before = count if index - began == 1 else 0
            count = 0
            window[:] = index, count, before
        left = 1 - at + index
        if before * left + count + 1 <= rate.count:
            window[1] += 1
            return 0.0
        return wait_for(count, before, left, rate)

    async def count_names(self, wanted: Sequence[Wanted]) -> tuple[LimitKind, float] | None:
        """See `Counters.count_names`."""
        for kind, name, rate in wanted:
            if wait := self.count(kind, name, rate):
                return kind, wait
        return None


def wait_for(count: float, before: float, left: float, rate: Rate) -> float:
    """Seconds until one more fits that does not fit now. count, before: in this window and the one before; left: share
    of it to come.
    """
    room = rate.count - count - 1
    if room >= 0:  # once enough of the window before is out of sight
        return max((left - room / before) * rate.seconds, 0.001)
    return (left + 1 - (rate.count - 1) / count) * rate.seconds
