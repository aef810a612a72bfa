"""One computation that any number of customers follow from its first event."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Generic, Self, TypeVar

from agents.types import AnswerEvent
from app.chat.types import ChatEvent, RunTurn, SendEvent

Event = TypeVar("Event", AnswerEvent, ChatEvent)
# Is given what adds an event.
Work = Callable[[Callable[[Event], None]], Awaitable[object]]


class Flight(Generic[Event]):
    """Runs in a task of its own and remembers its events; cancelled when the last of those who follow it leaves."""

    def __init__(self, work: Work[Event] | None, events: Iterable[Event] = ()) -> None:
        """work: None where all of the `events` are there."""
        # How many followed it so far.
        self.followed = 0
        # How many follow it now.
        self.present = 0
        self.events: list[Event] = list(events)
        self.error: Exception | None = None
        self.ended = work is None
        # Of the next event, or the end.
        self.news = asyncio.Event()
        self._task = None if work is None else asyncio.create_task(self._run(work), name="flight")

    @property
    def open(self) -> bool:
        """Whether one may still join: not after its end, nor once nobody was left."""
        return self._task is not None and not self.ended and not self._task.cancelling()

    def add_end_callback(self, call: Callable[[], None]) -> None:
        """Calls `call` when the computation ends, by whatever cause."""
        assert self._task is not None
        self._task.add_done_callback(lambda _: call())

    def follow(self) -> Follower[Event]:
        """Returns the place of one more follower, who is there within its `with` block."""
        self.followed += 1
        return Follower(self)

    def leave(self) -> None:
        """Takes note that a follower left; with the last one the computation ends."""
        self.present -= 1
        if not self.present and self._task is not None:
            self._task.cancel()

    def notify_followers(self) -> None:
        """Wakes all that wait."""
        # A new event each time: one that was cleared instead could be missed by followers that had not woken yet.
        self.news.set()
        self.news = asyncio.Event()

    def _add_event(self, event: Event) -> None:
        self.events.append(event)
        self.notify_followers()

    async def _run(self, work: Work[Event]) -> None:
        try:
            await work(self._add_event)
        except Exception as error:  # raised where it is followed
            self.error = error
        finally:
            self.ended = True
            self.notify_followers()


class Follower(Generic[Event]):
    """Reads the events of a flight from the first one on."""

    def __init__(self, flight: Flight[Event]) -> None:
        self._flight: Flight[Event] = flight
        self._events: Sequence[Event] = flight.events
        self._read = 0
        self._cut = False

    def __enter__(self) -> Self:
        self._flight.present += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._flight.leave()

    async def read_event(self) -> Event | None:
        """Returns the next event; None at the end. Raises what the computation raised, for every follower."""
        while self._read == len(self._events):
            if not self._cut and self._flight.error is not None:
                raise self._flight.error
            if self._cut or self._flight.ended:
                return None
            await self._flight.news.wait()
        self._read += 1
        return self._events[self._read - 1]

    def cut_short(self, ending: Iterable[Event]) -> None:
        """Leaves out what was not read yet; these events are the end for this follower."""
        self._events, self._cut = tuple(self._events[: self._read]) + tuple(ending), True
        self._flight.notify_followers()


def start_turn_flight(run: RunTurn) -> Flight[ChatEvent]:
    """Runs a turn that goes on when the client that began it leaves."""

    async def run_and_remember(add: Callable[[ChatEvent], None]) -> None:
        async def add_event(event: ChatEvent) -> None:
            add(event)

        await run(add_event)

    return Flight(run_and_remember)


async def send_flight(flight: Flight[ChatEvent], send: SendEvent) -> None:
    """Sends the events of a turn that runs by itself."""
    with flight.follow() as follower:
        while (event := await follower.read_event()) is not None:
            await send(event)
