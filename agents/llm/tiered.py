"""Two generators by what is asked: a small model answers what is simple."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agents.llm.base import Generator, Piece, Request
from agents.understanding.complexity import is_complex


class TieredGenerator:
    """simple: writes answers to plain questions; complex: to all others."""

    name = "tiered"

    def __init__(self, simple: Generator, complex: Generator) -> None:
        self._simple, self._complex = simple, complex

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """See `Generator.stream`."""
        generator = self._complex if is_complex(request.question) else self._simple
        async with aclosing(generator.stream(request)) as pieces:
            async for piece in pieces:
                yield piece
