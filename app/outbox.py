"""Does in the background what follows from commits."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from loguru import logger

from app.db.outbox import Outbox

POLL_SECONDS = 5.0
"""How often what was postponed, or left by a process that was killed, is looked for."""
GATHER_SECONDS = 0.5
"""How long commits are gathered before their events are settled together."""
BATCH = 500


class OutboxWorker:
    """Settles the outbox soon after every commit, and whatever is left at the start."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins with what is due already."""
        self._task = asyncio.create_task(self._run(), name="outbox")

    def wake(self) -> None:
        """There is something to do."""
        self._wake.set()

    async def close(self) -> None:
        """Stops; what is left is done after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            try:
                while await self._outbox.settle_due(BATCH) == BATCH:
                    pass
            except Exception:  # the database may be away for a while; the task must outlive that
                logger.exception("the outbox cannot be settled")
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake.wait()
                    await asyncio.sleep(GATHER_SECONDS)
            self._wake.clear()
