"""The generator that needs no model: it quotes the sentences that answer best."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from agents.llm.base import Checked, Citation, Piece, Request, Text
from agents.llm.selection import Quote, SentenceSelector
from knowledge.text import Analyzer


class ExtractiveGenerator:
    """Every sentence of the reply is a verbatim span of the fragment that it cites."""

    name = "extractive"

    def __init__(self, analyzer: Analyzer, max_sources: int) -> None:
        """analyzer: the tenant's; max_sources: fragments cited at most."""
        self._selector = SentenceSelector(analyzer, max_sources)

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Yields sentence by sentence, and a citation where the sentences of one fragment end."""
        for number, quote in enumerate(self._selector.select(request)):
            if number:
                yield Text("\n")
            source = request.chunk(quote.fragment).text
            for piece in _pieces(source, quote):
                yield Text(piece)
                await asyncio.sleep(0)  # a long reply must not hold up the other streams
            yield Citation(quote.fragment, "".join(_pieces(source, quote)))
            yield Checked()


def _pieces(source: str, quote: Quote) -> list[str]:
    """The sentences with the white space between them: as in the source where they are neighbours there."""
    pieces: list[str] = []
    lines = sorted({sentence.line for sentence in quote.sentences if sentence.is_item})
    in_order = len(lines) > 1 and lines[-1] - lines[0] == len(lines) - 1
    end = 0
    for sentence in quote.sentences:
        between = source[end : sentence.start]
        if not pieces:
            gap = ""
        elif between.isspace() or not between:
            gap = between
        else:
            gap = "\n" if "\n" in between else ""
        pieces.append(gap + (sentence.text if in_order else sentence.unmarked))
        end = sentence.end
    return pieces
