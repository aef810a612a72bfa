"""Tries generators in order: a model, perhaps another one, quotes in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing

from loguru import logger

from agents.errors import BudgetExhausted, GenerationError
from agents.generator import Degraded, Generator, Piece, Request, TakePiece, Withdrawn
from agents.llm.race import Contender, Patience, Race

_LLM = "llm"


class FallbackGenerator:
    """The first writer that succeeds, else the last resort.

    What a writer wrote before it failed is withdrawn; that another than the first had to write is marked. A writer with
    nothing to say, or nothing that holds, is followed by the next one, which is no failure. That the fragments hold
    nothing is accepted where `believes` says so, else they are quoted. After a first sign of a reply no other writer is
    asked beside it.
    """

    name = "fallback"

    def __init__(
        self,
        writers: Sequence[Generator],
        last: Generator,
        patience: Patience | None = None,
        believes: Callable[[Request], bool] = lambda _: True,
        writes: Callable[[], bool] = lambda: True,
    ) -> None:
        """Args:
        writers: models, the best first.
        last: the generator that is always there.
        patience: how long to wait for the writers.
        believes: whether a writer may decide that a request cannot be answered.
        writes: whether the writers are asked at all.
        """
        self._believes, self._writes = believes, writes
        self._writers, self._last = tuple(writers), last
        self._patience = patience or Patience()

    async def write(self, request: Request, take: TakePiece) -> None:
        """See `Generator.write`. Raises what the last generator raises."""
        marked = _DegradationMarks()
        writers = self._writers if self._writes() else ()
        async with aclosing(Race(writers, request, self._patience.hedge)) as race:
            remaining, end = self._patience.first, time.monotonic() + self._patience.total
            while True:
                started = time.monotonic()
                winner = await race.wait_for_winner(min(remaining, end - started))
                remaining -= time.monotonic() - started
                for piece in (*race.spent, *marked.mark_failures(race.failures, winner)):
                    take(piece)
                # The race adds to these lists while it goes on, so each piece is told once.
                race.spent.clear()
                race.failures.clear()
                if winner is None:
                    break
                error = await winner.pass_on(take, believed=self._believes(request))
                for piece in marked.mark_failures([(winner.place, error)] if error else (), None):
                    take(piece)
                if winner.settled:
                    return
                if winner.written:
                    take(Withdrawn())
                if winner.refused:
                    break
        await self._last.write(request, take)


class _DegradationMarks:
    """The parts that were out of order, each marked once."""

    def __init__(self) -> None:
        self._made = set[str]()

    def mark_failures(self, failures: Iterable[tuple[int, GenerationError]], winner: Contender | None) -> list[Piece]:
        """Marks failures of writers that are better than the winner, and that the winner stands in for them."""
        found: list[Piece] = []
        for number, error in failures:
            if winner is None or number < winner.place:
                logger.bind(place=number).opt(exception=error).warning("generator failed, trying the next")
                found += self._mark("budget" if isinstance(error, BudgetExhausted) else _LLM)
        if winner is not None and winner.place and not self._made:
            found += self._mark(_LLM)
        return found

    def _mark(self, part: str) -> list[Piece]:
        if part in self._made:
            return []
        self._made.add(part)
        return [Degraded(part)]
