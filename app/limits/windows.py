"""How often something happened lately, in the memory of this process.

Two counters a name, the older one weighted by how much of its window still counts (the sliding window counter of
Cloudflare's "How we built rate limiting", 2017): constant memory and about a microsecond a request. The
`limits` package was tried: its asynchronous memory storage walks all names after every request, in threads.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

from app.limits.types import Kind, Rate

MAX_NAMES = 20_000
"""Of each kind; beyond them those are forgotten that were not heard of for the longest time. Some 5 MB."""


class Counters(Protocol):
    """Where requests are counted; shared by all processes of a fleet, or of this one."""

    async def hit(self, kind: Kind, name: Hashable, rate: Rate) -> float:
        """Counts one more and returns 0.0, or the seconds until one more would be taken; then it is not counted."""


@dataclass(slots=True)
class _Window:
    index: int
    count: int = 0
    before: int = 0


class Windows:
    """Counts by kind and name; the kinds do not displace each other. clock: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, size: int = MAX_NAMES) -> None:
        self._clock = clock
        self._size = size
        self._kinds: dict[Kind, OrderedDict[Hashable, _Window]] = {kind: OrderedDict() for kind in Kind}

    def count(self, kind: Kind, name: Hashable, rate: Rate) -> float:
        """See `Counters.hit`."""
        window, elapsed = self._window(kind, name, rate)
        if wait := _wait(window, rate, elapsed):
            return wait
        window.count += 1
        return 0.0

    def _window(self, kind: Kind, name: Hashable, rate: Rate) -> tuple[_Window, float]:
        """The name's counters at this moment, and which share of the window went by."""
        index, elapsed = divmod(self._clock() / rate.seconds, 1.0)
        windows = self._kinds[kind]
        window = windows.get(name)
        if window is None:
            window = windows[name] = _Window(int(index))
            if len(windows) > self._size:
                windows.popitem(last=False)
            return window, elapsed
        windows.move_to_end(name)
        if passed := int(index) - window.index:
            window.before = window.count if passed == 1 else 0
            window.index, window.count = int(index), 0
        return window, elapsed


class MemoryCounters:
    """See `Counters`: of this process alone."""

    def __init__(self, windows: Windows | None = None) -> None:
        self._windows = windows or Windows()

    async def hit(self, kind: Kind, name: Hashable, rate: Rate) -> float:
        """See `Counters.hit`."""
        return self._windows.count(kind, name, rate)


def _wait(window: _Window, rate: Rate, elapsed: float) -> float:
    """Seconds until one more fits; elapsed: share of the window that went by."""
    if not rate.count or window.before * (1 - elapsed) + window.count + 1 <= rate.count:
        return 0.0
    room = rate.count - window.count - 1
    if room >= 0:  # once enough of the window before is out of sight
        return max((1 - room / window.before - elapsed) * rate.seconds, 0.001)
    return (1 - elapsed + 1 - (rate.count - 1) / window.count) * rate.seconds
