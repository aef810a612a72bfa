"""Generators in the order in which they are tried: a model, perhaps another one, quotes in the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from loguru import logger

from agents.errors import BudgetExhausted, GenerationError
from agents.generator import Citation, Degraded, Generator, Piece, Request, Text, Unanswered, Withdrawn


class FallbackGenerator:
    """The first generator that manages. What one wrote before it failed is withdrawn, and the failure is marked.

    One that has nothing to say, or nothing that holds, leaves the word to the next, which is no failure.
    """

    name = "fallback"

    def __init__(self, generators: Sequence[Generator]) -> None:
        if not generators:
            raise ValueError("there has to be a generator")
        self._generators = tuple(generators)

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """See `Generator.stream`. Raises what the last one raises."""
        degraded = set[str]()
        for number, generator in enumerate(self._generators, start=1):
            written = settled = False
            try:
                async with aclosing(generator.stream(request)) as pieces:
                    async for piece in pieces:
                        written = (written or isinstance(piece, Text)) and not isinstance(piece, Withdrawn)
                        settled = (settled or isinstance(piece, Citation | Unanswered)) and not isinstance(
                            piece, Withdrawn
                        )
                        yield piece
            except GenerationError as error:
                if number == len(self._generators):
                    raise
                logger.bind(generator=generator.name).opt(exception=error).warning("generator failed, trying the next")
                part = "budget" if isinstance(error, BudgetExhausted) else "llm"
                if part not in degraded:
                    yield Degraded(part)
                degraded.add(part)
                settled = False
            if settled:
                return
            if written:
                yield Withdrawn()
