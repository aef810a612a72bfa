"""What a replica tells the others at once, over a channel of Redis. Nothing may depend on its arrival."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from loguru import logger

from app.ids import create_id
from app.redis.server import LOOK_SECONDS, RedisServer
from app.tasks import stop_tasks


class Broadcast:
    """name: of the channel; hear: called on the event loop with what another replica told, as JSON made it; raises
    ValueError, KeyError or TypeError for what it does not understand.
    """

    def __init__(self, server: RedisServer, name: str, hear: Callable[[Sequence[Any]], None]) -> None:
        self._server = server
        self._hear_parts = hear
        self._own = create_id()
        self._channel = server.build_key(name)
        self._name = name
        self._telling: set[asyncio.Task[Any]] = set()
        self._listening: asyncio.Task[None] | None = None
        # Set while it is subscribed.
        self.listens = asyncio.Event()

    def start(self) -> None:
        """Listens until `close`, again and again where Redis is away."""
        self._listening = asyncio.create_task(self._listen(), name=self._name)

    def tell(self, *parts: Any) -> None:
        """Tells all other replicas. parts: JSON."""
        text = json.dumps([self._own, *parts])
        publishing = self._server.ask(lambda client: client.publish(self._channel, text), None)
        task = asyncio.create_task(publishing, name=self._name)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def close(self) -> None:
        """Stops both."""
        await stop_tasks(self._listening, *self._telling)

    async def _listen(self) -> None:
        while True:
            try:
                await self._server.subscribe(self._channel, self.listens.set, self._receive)
            except self._server.failures:
                self.listens.clear()
                await asyncio.sleep(LOOK_SECONDS)

    def _receive(self, text: bytes) -> None:
        try:
            sender, *parts = json.loads(text)
            if sender != self._own:
                self._hear_parts(parts)
        except (ValueError, KeyError, TypeError):
            logger.warning("A message of another version on the channel of replicas")
