"""Work of several requests in one call: what comes while a call is under way goes together with the next."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

GATHER_SECONDS = 0.002
"""How long an item waits for company while another call is under way; one that is alone goes at once."""

Item = TypeVar("Item")
Result = TypeVar("Result")
_Waiting = tuple[Item, asyncio.Future[Result]]


class Batcher(Generic[Item, Result]):
    """Of one event loop.

    compute: makes of at least one item as many results, in their order; most: items of one call, asked at each call;
    lanes: calls at once; alone: what says that an item cannot be computed, and nothing of those that went with it.
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
        """Raises what the computation raises. An item that is given up before its call is left out of it."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._schedule_batch()
        return await future

    def _schedule_batch(self) -> None:
        """With an idle machine all that comes in this turn of the event loop is one call; nothing waits for a clock."""
        if len(self._calls) >= self._lanes or not self._waiting:
            return
        hurry = not self._calls or len(self._waiting) >= self._most()
        if self._timer is not None:
            if not hurry:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(0 if hurry else GATHER_SECONDS, self._start_batch)

    def _start_batch(self) -> None:
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
