"""Chooses the generator that begins a reply: a second one is asked where the first is silent, the next where
one fails.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from agents.errors import GenerationError, GenerationLate
from agents.generator import (
    Citation,
    Generator,
    Piece,
    Request,
    Spent,
    TakePiece,
    Text,
    Unanswered,
    Withdrawn,
)
from agents.types import Thinking


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits for one reply, whoever writes it, in seconds."""

    # Silence until a second generator is asked beside the first, 0 for never.
    hedge: float = 0.0
    # Without a sign of any of them, in sum.
    first: float = 10.0
    # Until nobody is asked any more.
    total: float = 60.0


class Contender:
    """A generator at work on a request, in a task of its own. What it writes is kept until `pass_on` is called.

    `place`: of the generator in the order of preference, from 0; `opening` is done with its first sign, or without
    one at its end. Of what was passed on, `written`: there is text; `settled`: it holds, nobody else need be asked;
    `refused`: it says that there is no answer, and is not believed.
    """

    def __init__(self, number: int, generator: Generator, request: Request) -> None:
        self.place = number
        self.generator = generator
        self.begun: list[Piece] = []
        self.written = self.settled = self.refused = False
        self._take: TakePiece | None = None
        self._believed = True
        self.opening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._work = asyncio.create_task(generator.write(request, self._take_piece), name="reply")
        self._work.add_done_callback(lambda _: self._open())

    @property
    def has_spoken(self) -> bool:
        """Whether there was any sign of a reply."""
        return any(not isinstance(piece, Spent) for piece in self.begun)

    @property
    def error(self) -> BaseException | None:
        """What ended the work; None while it goes on, and where it was done or cancelled."""
        return self._work.exception() if self._work.done() and not self._work.cancelled() else None

    async def pass_on(self, take: TakePiece, *, believed: bool) -> GenerationError | None:
        """Passes on the whole reply, but for thoughts. Returns the error that ended it.

        believed: whether it may say that there is no answer.
        """
        self._take, self._believed = take, believed
        for piece in self.begun:
            self._take_piece(piece)
        try:
            await self._work
        except GenerationError as error:
            self.settled = False
            return error
        return None

    def cancel(self) -> None:
        """Lets the work end soon."""
        self._work.cancel()

    async def close(self) -> None:
        """Ends the work."""
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    def _take_piece(self, piece: Piece) -> None:
        if self._take is None:
            self.begun.append(piece)
            if not isinstance(piece, Spent):
                self._open()
        elif isinstance(piece, Unanswered) and not (self.settled or self._believed):
            self.refused = True
        elif not isinstance(piece, Thinking):
            kept = not isinstance(piece, Withdrawn)
            self.written = kept and (self.written or isinstance(piece, Text))
            self.settled = kept and (self.settled or isinstance(piece, Citation | Unanswered))
            self._take(piece)

    def _open(self) -> None:
        if not self.opening.done():
            self.opening.set_result(None)


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
            contender.cancel()
        for contender in self._all:
            await contender.close()

    def _start(self, number: int, generator: Generator) -> None:
        contender = Contender(number, generator, self._request)
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
            if contender.has_spoken:
                self._running.remove(contender)
                self._cancel_running()
                return contender
            self._drop(contender)
            error = contender.error
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
            contender.cancel()
            self._drop(contender)

    def _drop(self, contender: Contender) -> None:
        self._running.remove(contender)
        self.spent += contender.begun
