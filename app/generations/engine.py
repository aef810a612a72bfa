"""An embedder with all that is fitted to it, and a tenant's index of one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.learning import Learning
from app.tasks import stop_tasks
from knowledge.embeddings.base import Embedder

if TYPE_CHECKING:
    from app.readiness import Readiness


class EmbeddingEngine:
    """Shared by all tenants whose index is of this embedder. name: as in EMBEDDER."""

    def __init__(self, name: str, embedder: Embedder) -> None:
        self.name = name
        self.embedder = embedder
        self.learning = Learning(embedder)
        self._task: asyncio.Task[None] | None = None

    def begin(self, startup: Readiness) -> None:
        """Learns behind what is served, once."""
        self._task = self._task or asyncio.create_task(self.learning.learn(startup), name=f"learning of {self.name}")

    async def close(self) -> None:
        """Stops learning and lets the embedder go."""
        await stop_tasks(self._task)
        await self.learning.close()
        await asyncio.to_thread(self.embedder.close)


class Generation:
    """A tenant's index of one embedder, the `number`th since the first, which is 0. A turn uses one from its start to
    its end: vectors of one embedder mean nothing to the index of another.
    """

    def __init__(self, tenant: str, number: int, engine: EmbeddingEngine) -> None:
        self.tenant = tenant
        self.number = number
        self.engine = engine
        self._turns = 0
        self._free = asyncio.Event()
        self._free.set()

    @property
    def embedder(self) -> Embedder:
        """Of its vectors."""
        return self.engine.embedder

    @property
    def learning(self) -> Learning:
        """What is fitted to the embedder."""
        return self.engine.learning

    @contextmanager
    def hold_turn(self) -> Iterator[None]:
        """Holds the generation for a turn: it is not closed as long as the block lasts."""
        self._turns += 1
        self._free.clear()
        try:
            yield
        finally:
            self._turns -= 1
            if not self._turns:
                self._free.set()

    async def wait_until_unused(self) -> None:
        """Returns once no turn uses it."""
        await self._free.wait()
