"""One computation that any number of customers follow from its first event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

from agents.types import AnswerEvent
from app.chat.types import ChatEvent

Event = TypeVar("Event", AnswerEvent, ChatEvent)
Events = AsyncGenerator[AnswerEvent, None]


class Flight(Generic[Event]):
    """Runs in a task of its own and remembers its events; cancelled when the last of those who follow it leaves."""

    def __init__(self, work: Callable[[Callable[[Event], None]], Awaitable[object]]) -> None:
        """work: is given what adds an event."""
        self.followed = 0
        """How many followed it so far."""
        self.events: list[Event] = []
        self._error: Exception | None = None
        self._present = 0
        self._ended = False
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._run(work), name="flight")

    @property
    def open(self) -> bool:
        """Whether one may still join: not after its end, nor once nobody was left."""
        return not self._ended and not self._task.cancelling()

    def add_end_callback(self, call: Callable[[], None]) -> None:
        """Calls `call` when the computation ends, by whatever cause."""
        self._task.add_done_callback(lambda _: call())

    async def follow(self) -> AsyncGenerator[Event, None]:
        """Yields all events from the first one on. Raises what the computation raised, for every follower."""
        self.followed += 1
        self._present += 1
        position = 0
        try:
            while True:
                news = self._news
                for event in self.events[position:]:
                    yield event
                    position += 1
                if position < len(self.events):
                    continue
                if self._error is not None:
                    raise self._error
                if self._ended:
                    return
                await news.wait()
        finally:
            self._present -= 1
            if not self._present:
                self._task.cancel()

    def _add_event(self, event: Event) -> None:
        self.events.append(event)
        self._notify_followers()

    async def _run(self, work: Callable[[Callable[[Event], None]], Awaitable[object]]) -> None:
        try:
            await work(self._add_event)
        except Exception as error:  # raised where it is followed
            self._error = error
        finally:
            self._ended = True
            self._notify_followers()

    def _notify_followers(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
