"""What a replica tells the others at once: that its index moved, or that a cache was cleared.

Nothing depends on its arrival: SQL has the revision, and whoever missed a word finds it there half a second later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.redis.broadcast import Broadcast
from app.redis.server import RedisServer

MOVED, CLEARED = "moved", "cleared"


class News:
    """on_moved, on_cleared: called on the event loop with the tenant that another replica told of."""

    def __init__(
        self, server: RedisServer, on_moved: Callable[[str], None], on_cleared: Callable[[str], object]
    ) -> None:
        self._heard: dict[str, Callable[[str], object]] = {MOVED: on_moved, CLEARED: on_cleared}
        self._broadcast = Broadcast(server, "news", self._receive)
        self.listens = self._broadcast.listens

    def start(self) -> None:
        """Listens until `close`."""
        self._broadcast.start()

    def send_moved(self, tenant: str, revision: int) -> None:
        """Tells that a tenant's index moved here."""
        self._broadcast.tell(MOVED, tenant)

    def send_cleared(self, tenant: str) -> None:
        """Tells that a tenant's cache was cleared here."""
        self._broadcast.tell(CLEARED, tenant)

    async def close(self) -> None:
        """Stops."""
        await self._broadcast.close()

    def _receive(self, parts: Sequence[Any]) -> None:
        what, tenant = parts
        self._heard[what](str(tenant))
