"""The generator that needs no model: it quotes the sentences that answer best."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from agents.answering.meaning import Meaning
from agents.llm.base import Checked, Citation, Piece, Request, Text
from agents.llm.selection import SentenceSelector, passages_of
from knowledge.text import Analyzer


class ExtractiveGenerator:
    """Every sentence of the reply is a verbatim span of the fragment that it cites, or a row of a table as a sentence.

    What a citation quotes is verbatim throughout.
    """

    name = "extractive"

    def __init__(self, analyzer: Analyzer, max_sources: int, meaning: Meaning | None = None) -> None:
        """analyzer: the tenant's; max_sources: fragments cited at most; meaning: None chooses by words alone."""
        self._selector = SentenceSelector(analyzer, max_sources)
        self._meaning = meaning

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        """Yields sentence by sentence, and a citation where the sentences of one fragment end."""
        passages = passages_of(request)
        near = await self._meaning.closeness(request, passages) if self._meaning else {}
        for number, quote in enumerate(self._selector.select(request, passages, near)):
            if number:
                yield Text("\n")
            source = request.chunk(quote.fragment).text
            for piece in quote.pieces(source):
                yield Text(piece)
                await asyncio.sleep(0)  # a long reply must not hold up the other streams
            yield Citation(quote.fragment, quote.verbatim(source))
            yield Checked()
