"""Chooses the generator that begins a reply: a second one is asked where the first is silent, the next where
one fails.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from agents.errors import GenerationError, GenerationLate
from agents.generator import Generator, Piece, Request, Spent


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits for one reply, whoever writes it, in seconds.

    `hedge`: silence until a second generator is asked beside the first, 0 for never; `first`: without a sign of any of
    them, in sum; `total`: until nobody is asked any more.
    """

    hedge: float = 0.0
    first: float = 10.0
    total: float = 60.0


class Contender:
    """A generator at work on a request: in a task of its own until its first sign, then wherever `stream_pieces` is
    read.

    `place`: of the generator in the order of preference, from 0.
    """

    def __init__(self, place: int, generator: Generator, request: Request) -> None:
        self.place = place
        self.generator = generator
        self.begun: list[Piece] = []
        self._rest = generator.stream(request)
        self.opening = asyncio.create_task(self._open(), name="reply")

    @property
    def has_spoken(self) -> bool:
        """Whether there was any sign of a reply."""
        return any(not isinstance(piece, Spent) for piece in self.begun)

    async def stream_pieces(self) -> AsyncGenerator[Piece]:
        """Yields the whole reply. Raises GenerationError."""
        for piece in self.begun:
            yield piece
        async for piece in self._rest:
            yield piece

    async def close(self) -> None:
        """Ends the work."""
        self.opening.cancel()
        await asyncio.gather(self.opening, return_exceptions=True)
        await self._rest.aclose()

    async def _open(self) -> None:
        async for piece in self._rest:
            self.begun.append(piece)
            if not isinstance(piece, Spent):
                return


class Race:
    """The race for one reply, two generators at a time at most. Closing it ends all work.

    `failures`: with the place of who failed; `spent`: cost of those that did not win, as far as they told. The caller
    empties both.
    """

    def __init__(self, generators: Sequence[Generator], request: Request, hedge: float) -> None:
        self.failures: list[tuple[int, GenerationError]] = []
        self.spent: list[Piece] = []
        self._waiting = deque(enumerate(generators))
        self._request, self._hedge = request, hedge
        self._running: list[Contender] = []
        self._all: list[Contender] = []

    async def wait_for_winner(self, seconds: float) -> Contender | None:
        """Returns the first generator that gives a sign; None where none does. The others are cancelled.

        seconds: after which nobody is asked any more.
        """
        deadline = time.monotonic() + seconds
        alone_until = math.inf
        while self._running or self._waiting:
            if not self._running:
                self._start(*self._waiting.popleft())
                alone_until = time.monotonic() + (self._hedge or math.inf)
            openings = [contender.opening for contender in self._running]
            until = min(deadline, alone_until) if len(openings) == 1 else deadline
            await asyncio.wait(
                openings, timeout=max(until - time.monotonic(), 0.0), return_when=asyncio.FIRST_COMPLETED
            )
            if (winner := self._find_settled()) is not None:
                return winner
            if time.monotonic() >= deadline:
                self._give_up(seconds)
            elif len(self._running) == 1 and time.monotonic() >= alone_until and not self._start_beside():
                alone_until = math.inf
        return None

    async def aclose(self) -> None:
        """Ends all work."""
        for contender in self._all:
            contender.opening.cancel()
        for contender in self._all:
            await contender.close()

    def _start(self, place: int, generator: Generator) -> None:
        contender = Contender(place, generator, self._request)
        self._running.append(contender)
        self._all.append(contender)

    def _start_beside(self) -> bool:
        """Starts the next generator; without one the silent one again, but not twice. Returns whether one was
        started.
        """
        silent = self._running[0]
        if not self._waiting and len(self._all) > 1:
            return False
        self._start(*(self._waiting.popleft() if self._waiting else (silent.place, silent.generator)))
        return True

    def _find_settled(self) -> Contender | None:
        """Returns the contender that gave a sign, the better of two; drops those that failed."""
        done = sorted((one for one in self._running if one.opening.done()), key=lambda one: one.place)
        for contender in done:
            error = contender.opening.exception()
            if error is None and contender.has_spoken:
                self._running.remove(contender)
                self._cancel_running()
                return contender
            self._drop(contender)
            if isinstance(error, GenerationError):
                self.failures.append((contender.place, error))
            elif error is not None:
                raise error
        return None

    def _give_up(self, seconds: float) -> None:
        late = GenerationLate(f"no first token within {seconds:.1f} s")
        self.failures += [(contender.place, late) for contender in self._running]
        self._waiting.clear()
        self._cancel_running()

    def _cancel_running(self) -> None:
        for contender in list(self._running):
            contender.opening.cancel()
            self._drop(contender)

    def _drop(self, contender: Contender) -> None:
        self._running.remove(contender)
        self.spent += contender.begun
