"""One computation that any number of customers follow from its first event."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Generic, TypeVar

from agents.types import AnswerEvent
from app.chat.types import ChatEvent

Event = TypeVar("Event", AnswerEvent, ChatEvent)
Events = AsyncGenerator[AnswerEvent, None]


class Flight(Generic[Event]):
    """Runs in a task of its own and remembers its events; cancelled when the last of those who follow it leaves."""

    def __init__(self, source: AsyncGenerator[Event, None]) -> None:
        self.followed = 0
        """How many followed it so far."""
        self._events: list[Event] = []
        self._error: Exception | None = None
        self._present = 0
        self._ended = False
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._run(source), name="flight")

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
                for event in self._events[position:]:
                    yield event
                    position += 1
                if position < len(self._events):
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

    async def _run(self, source: AsyncGenerator[Event, None]) -> None:
        try:
            async with aclosing(source):
                async for event in source:
                    self._events.append(event)
                    self._notify_followers()
        except Exception as error:  # raised where it is followed
            self._error = error
        finally:
            self._ended = True
            self._notify_followers()

    def _notify_followers(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
