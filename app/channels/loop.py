"""A background task in rounds: on demand, and at intervals for work that other processes left."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import ClassVar

from loguru import logger

POLL_SECONDS = 0.5
"""Interval at which work of other processes is found."""


class WorkLoop(ABC):
    """Runs rounds until it is closed; an error ends only its round."""

    name: ClassVar[str]

    def __init__(self, poll_seconds: float = POLL_SECONDS) -> None:
        self._poll_seconds = poll_seconds
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @abstractmethod
    async def run_round(self) -> int:
        """Does or starts the work that is due, and returns the number of items."""

    def start(self) -> None:
        """Starts the task."""
        self._task = asyncio.create_task(self._run(), name=self.name)

    def wake(self) -> None:
        """Starts the next round now."""
        self._wake.set()

    async def close(self) -> None:
        """Stops the task; unfinished work is done after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        while True:
            try:
                self._wake.clear()
                while await self.run_round():
                    pass
            except Exception:  # the database may be away for a while; the task must outlive that
                logger.exception("{} cannot go on", self.name)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._wake.wait()
