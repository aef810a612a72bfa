"""The generator that needs no model: it quotes the sentences that answer best."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from agents.llm.base import Checked, Citation, Piece, Request, Text
from agents.llm.selection import Quote, SentenceSelector
from knowledge.text import Analyzer


class ExtractiveGenerator:
    """Every sentence of the reply is a verbatim span of the fragment that it cites, or a row of a table made readable."""

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
            gaps = _gaps(source, quote)
            for gap, shown in zip(gaps, quote.shown, strict=True):
                yield Text(gap + shown)
                await asyncio.sleep(0)  # a long reply must not hold up the other streams
            yield Citation(quote.fragment, _verbatim(gaps, quote))
            yield Checked()


def _gaps(source: str, quote: Quote) -> list[str]:
    """The white space before each sentence: as in the source where they are neighbours there."""
    gaps: list[str] = []
    end = 0
    for sentence in quote.sentences:
        between = source[end : sentence.start]
        neighbours = not between or between.isspace()
        gaps.append("" if not gaps else between if neighbours else "\n" if "\n" in between else "")
        end = sentence.end
    return gaps


def _verbatim(gaps: list[str], quote: Quote) -> str:
    """The sentences as the source has them."""
    return "".join(gap + sentence.text for gap, sentence in zip(gaps, quote.sentences, strict=True))
