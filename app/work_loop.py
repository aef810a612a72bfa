"""Work of the background, in rounds: as soon as there is some, and now and then, for what other processes left."""

from __future__ import annotations

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

from loguru import logger

from app.db.leased_queue import LeaseLost
from app.errors import find_outage
from app.tasks import stop_tasks

Result = TypeVar("Result")
# How often a process says that it is alive, writes progress and learns of a cancellation: several times within a lease.
BEAT_SECONDS = 0.5
# For how long work that was left waits for a start: customers are answered first.
START_SECONDS = 60.0


class WorkLoop(ABC):
    """Runs until it is closed, whatever a round raises.

    name: for the log. poll_seconds: how late the work of another process may be seen; a round may change it, where
    something is out of reach. gather_seconds: how long work is gathered after `wake`, to be done together.
    """

    name: ClassVar[str]
    poll_seconds: float = 1.0
    gather_seconds: ClassVar[float] = 0.0

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._begun: set[asyncio.Task[None]] = set()
        self._worker = secrets.token_hex(8)

    @abstractmethod
    async def run_round(self) -> int:
        """Does what is due, or begins it.

        Returns:
            How many pieces of work were taken. After any but 0 the next round follows at once, as more may be due. A
            round that leaves nothing it could do now returns 0: the loop then waits for `wake` or `poll_seconds`.
        """

    async def recover(self) -> None:  # noqa: B027 - most have nothing to take back
        """Takes back what processes that ended had. It is called before a round, but not after one that failed: the
        others first have to say again that they are alive.
        """

    def start(self, after: asyncio.Event | None = None) -> None:
        """Starts the loop. after: the first round waits until this is set, but no longer than START_SECONDS."""
        self._loop = asyncio.create_task(self._run(after), name=self.name)

    def wake(self) -> None:
        """Tells the loop that there is something to do."""
        self._wake.set()

    async def close(self) -> None:
        """Stops the loop and what it began, which is done again after the next start, or by another process."""
        await stop_tasks(self._loop, *self._begun)

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Does some work beside the rounds, and wakes the loop when it is done."""
        task = asyncio.create_task(work, name=self.name)
        self._begun.add(task)
        task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._begun.discard(task)
        if not task.cancelled() and (error := task.exception()):  # a lease ends, and the work is done again
            logger.opt(exception=error).error("{}: what came of some work cannot be written down", self.name)
        self.wake()

    async def _run(self, after: asyncio.Event | None) -> None:
        if after is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(START_SECONDS):
                    await after.wait()
        reached = True
        while True:
            try:
                if reached:
                    await self.recover()
                while await self.run_round():
                    pass
                reached = True
            except Exception as error:  # the database may be away for a while; the loop must outlive that
                if reached or find_outage(error) is None:  # an outage is told once, not every second
                    logger.exception("{} cannot go on", self.name)
                reached = False
            with suppress(TimeoutError):
                async with asyncio.timeout(self.poll_seconds):
                    await self._wake.wait()
                    await asyncio.sleep(self.gather_seconds)
            self._wake.clear()


async def run_leased(
    work: Awaitable[Result], renew_lease: Callable[[], Awaitable[bool]], grace_seconds: float = 0.0
) -> asyncio.Future[Result]:
    """Does a piece of work, and renews its lease all the while.

    Args:
        work: It is stopped if the lease is lost or the caller is cancelled.
        renew_lease: Called every BEAT_SECONDS; returns False where the lease is lost.
        grace_seconds: How long work without a lease has to stop by itself.

    Returns:
        The work as a future that is done; its `result()` returns the result or raises the work's error.

    Raises:
        LeaseLost: The work was stopped, because it no longer belongs to this process.
    """
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=BEAT_SECONDS))[0]:
            try:
                leased = await renew_lease()
            except Exception as error:
                if find_outage(error) is None:
                    raise
                continue  # the database may be back before the lease ends; if not, the next renewal says so
            if not leased:
                await asyncio.wait({task}, timeout=grace_seconds)
                raise LeaseLost
    finally:
        await stop_tasks(task)
    return task
