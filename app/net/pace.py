"""One request at a time to a host, and not too many: for all tenants of this process together."""

from __future__ import annotations

import asyncio
import time

_MAX_HOSTS = 10_000


class HostPace:
    """Gives out moments at which a host may be asked."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def turn(self, host: str, seconds: float) -> None:
        """Waits until `seconds` passed since the turn before."""
        moment = time.monotonic()
        if len(self._next) >= _MAX_HOSTS:
            self._next = {name: due for name, due in self._next.items() if due > moment}
        due = max(moment, self._next.get(host, 0.0))
        self._next[host] = due + seconds
        await asyncio.sleep(due - moment)
