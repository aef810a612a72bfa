"""Batches requests: items that arrive while a call is running are computed together in the next call."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

# How long an item waits for company while another call is under way; one that is alone goes at once.
GATHER_SECONDS = 0.002

Item = TypeVar("Item")
Result = TypeVar("Result")
_Waiting = tuple[Item, asyncio.Future[Result]]


class Batcher(Generic[Item, Result]):
    """Batches the items of one event loop into calls.

    Args:
        compute: Computes the results of a batch of at least one item, in the order of the items.
        most: Returns how many items one call may take; asked before every call.
        lanes: How many calls may run at the same time.
        alone: The error which says that one item of a batch cannot be computed; the items are then tried one by one.
    """

    def __init__(
        self,
        compute: Callable[[list[Item]], Awaitable[Sequence[Result]]],
        most: Callable[[], int],
        lanes: int,
        alone: type[Exception],
    ) -> None:
        self._compute, self._most, self._lanes, self._alone = compute, most, lanes, alone
        self._waiting: deque[_Waiting[Item, Result]] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def compute(self, item: Item) -> Result:
        """Returns the result of one item, computed together with other waiting items.

        An item whose caller is cancelled before the call starts is left out of it.

        Raises:
            Exception: Whatever the computation raises for this item.
        """
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._schedule_batch()
        return await future

    def _schedule_batch(self) -> None:
        """Schedules the next call if items wait and a lane is free.

        On an idle machine all items of this iteration of the event loop share one call; no timer delays them.
        """
        if len(self._calls) >= self._lanes or not self._waiting:
            return
        hurry = not self._calls or len(self._waiting) >= self._most()
        if self._timer is not None:
            if not hurry:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(0 if hurry else GATHER_SECONDS, self._start_batch)

    def _start_batch(self) -> None:
        """Starts a call with the items that wait now, up to the limit."""
        self._timer = None
        batch = list[_Waiting[Item, Result]]()
        while self._waiting and len(batch) < self._most():
            item, future = self._waiting.popleft()
            if not future.done():  # else it was given up
                batch.append((item, future))
        if batch:
            # In a context of its own: what belongs to one request, its place or its log, is not that of the others.
            call = asyncio.get_running_loop().create_task(self._run_batch(batch), name="batch", context=Context())
            self._calls.add(call)
            call.add_done_callback(self._finish_call)
        self._schedule_batch()

    def _finish_call(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        self._schedule_batch()

    async def _run_batch(self, batch: list[_Waiting[Item, Result]]) -> None:
        """Runs one call and hands each result or error to the caller who waits for it."""
        try:
            for (_, future), result in zip(batch, await self._compute([item for item, _ in batch]), strict=True):
                if not future.done():
                    future.set_result(result)
        except Exception as error:  # raised where it is waited for
            if isinstance(error, self._alone) and len(batch) > 1:
                await asyncio.gather(*(self._run_batch([one]) for one in batch if not one[1].done()))
                return
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        finally:  # the loop is being closed
            if (task := asyncio.current_task()) is not None and task.cancelling():
                for _, future in batch:
                    future.cancel()
