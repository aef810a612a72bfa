"""One request at a time to a host, and not too many: for all tenants of this process together."""

from __future__ import annotations

import asyncio
import time

# Beyond so many, hosts that may be asked at once are forgotten: sources of many tenants must not fill the memory.
_MAX_HOSTS = 10_000


class HostPace:
    """Gives out moments at which a host may be asked."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}

    async def wait_for_turn(self, host: str, seconds: float) -> None:
        """Waits until `seconds` have passed since the last request to the host."""
        moment = time.monotonic()
        if len(self._next) >= _MAX_HOSTS:
            self._next = {name: due for name, due in self._next.items() if due > moment}
        due = max(moment, self._next.get(host, 0.0))
        self._next[host] = due + seconds
        await asyncio.sleep(due - moment)
