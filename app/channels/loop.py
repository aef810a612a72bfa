"""Work in rounds: as soon as there is some, and now and then, for what other processes left."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import ClassVar

from loguru import logger

POLL_SECONDS = 0.5
"""How late the work of another process may be seen."""


class WorkLoop(ABC):
    """Runs until it is closed, whatever a round raises."""

    name: ClassVar[str]

    def __init__(self, poll_seconds: float = POLL_SECONDS) -> None:
        self._poll_seconds = poll_seconds
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def settle(self) -> int:
        """Does what is due, or begins it, and returns how much that was."""

    def start(self) -> None:
        """Begins with what is due already."""
        self._task = asyncio.create_task(self._run(), name=self.name)

    def wake(self) -> None:
        """There is something to do."""
        self._wake.set()

    async def close(self) -> None:
        """Stops; what is under way is done again after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            try:
                self._wake.clear()
                while await self.settle():
                    pass
            except Exception:  # the database may be away for a while; the task must outlive that
                logger.exception("{} cannot go on", self.name)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._wake.wait()
