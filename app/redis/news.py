"""What a replica tells the others at once: that its index moved, or that a cache was cleared.

Nothing depends on its arrival: SQL has the revision, and whoever missed a word finds it there half a second later.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from loguru import logger

from app.ids import new_id
from app.redis.server import LOOK_SECONDS, RedisServer

if TYPE_CHECKING:
    from redis.asyncio import Redis

MOVED, CLEARED = "moved", "cleared"


class News:
    """on_moved, on_cleared: called on the event loop with the tenant that another replica told of."""

    def __init__(
        self, server: RedisServer, on_moved: Callable[[str], None], on_cleared: Callable[[str], object]
    ) -> None:
        self._server = server
        self._heard: dict[str, Callable[[str], object]] = {MOVED: on_moved, CLEARED: on_cleared}
        self._own = new_id()
        self._channel = server.key("news")
        self._telling: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Task[None] | None = None
        self.listens = asyncio.Event()
        """Set while it is subscribed."""

    def start(self) -> None:
        """Listens until `close`, again and again where Redis is away."""
        self._listening = asyncio.create_task(self._listen(), name="news")

    def moved(self, tenant: str, revision: int) -> None:
        """Tells that a tenant's index moved here."""
        self._tell(MOVED, tenant)

    def cleared(self, tenant: str) -> None:
        """Tells that a tenant's cache was cleared here."""
        self._tell(CLEARED, tenant)

    async def close(self) -> None:
        """Stops both."""
        tasks = [*self._telling, *([self._listening] if self._listening else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell(self, what: str, tenant: str) -> None:
        text = json.dumps([self._own, what, tenant])

        async def publish(client: Redis) -> None:
            await client.publish(self._channel, text)

        task = asyncio.create_task(self._server.ask(publish, _nobody), name="news")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _listen(self) -> None:
        while True:
            try:
                await self._server.subscribed(self._channel, self.listens.set, self._hear)
            except self._server.failures:
                self.listens.clear()
                await asyncio.sleep(LOOK_SECONDS)

    def _hear(self, text: bytes) -> None:
        try:
            sender, what, tenant = json.loads(text)
            heard = self._heard[what]
        except (ValueError, KeyError, TypeError):
            logger.warning("A message of another version on the channel of replicas")
            return
        if sender != self._own:
            heard(str(tenant))


async def _nobody() -> None:
    """Redis is away: the others find it in SQL."""
