"""The generator without a model: quotes the sentences that answer best."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from agents.answering.curated import cut_curated_answer
from agents.answering.meaning import Meaning
from agents.answering.selection import Quote, SentenceSelector, build_passages
from agents.generator import Checked, Citation, Request, SubRequest, TakePiece, Text, Unanswered
from agents.wording.catalogue import say
from knowledge.text import Analyzer


@dataclass(frozen=True, slots=True)
class QuotedFragment:
    """What is shown of one fragment, in pieces, and the citation for it."""

    pieces: tuple[str, ...]
    citation: Citation

    @classmethod
    def from_quote(cls, quote: Quote, source: str) -> Self:
        """source: the text of the fragment."""
        return cls(tuple(quote.build_pieces(source)), Citation(quote.fragment, quote.join_source_text(source)))


class ExtractiveGenerator:
    """Every sentence of the reply is a verbatim span of the fragment that it cites, or a row of a table under its
    header.

    Citations quote verbatim. Several questions are answered one by one, in numbered lines.
    """

    name = "extractive"

    def __init__(self, analyzer: Analyzer, max_sources: int, meaning: Meaning | None = None) -> None:
        """Args:
        analyzer: the tenant's.
        max_sources: fragments cited at most, though each of several questions has one.
        meaning: of sentences; None chooses by words alone.
        """
        self._selector = SentenceSelector(analyzer, max_sources)
        self._max_sources = max_sources
        self._meaning = meaning

    async def write(self, request: Request, take: TakePiece) -> None:
        """Gives sentence by sentence, and a citation where the sentences of one fragment end."""
        answers = [await self._answer_part(request, part) for part in request.sub_requests]
        if len(dict.fromkeys(answers)) < 2:  # questions that the same sentences answer are one
            await _write_quotes(answers[0] if answers else await self._quote_fragments(request), take)
            return
        for index, quoted in enumerate(answers):
            number = f"\n{index + 1}. " if index else "1. "
            if quoted and answers.index(quoted) == index:
                await _write_quotes(quoted, take, number)
            else:
                take(Text(number + _explain_missing(request, answers, index)))
        if not all(answers):
            take(Unanswered())

    async def _answer_part(self, request: Request, part: SubRequest) -> tuple[QuotedFragment, ...]:
        """Returns the quotes for one of several questions; empty where nothing answers it."""
        if not part.fragments:
            return ()
        own = request.build_sub_request(part)
        best = request.get_candidate(part.fragments[0])
        if best.chunk.question is not None:
            text, quote = cut_curated_answer(replace(own, fragments=(best,), page=None))
            return (QuotedFragment((text,), Citation(part.fragments[0], quote)),) if text else ()
        return await self._quote_fragments(own, part.fragments, max(self._max_sources // len(request.sub_requests), 1))

    async def _quote_fragments(
        self, request: Request, fragments: Sequence[int] | None = None, most: int | None = None
    ) -> tuple[QuotedFragment, ...]:
        passages = build_passages(request, fragments)
        closeness = await self._meaning.measure_closeness(request, passages) if self._meaning else {}
        return tuple(
            QuotedFragment.from_quote(quote, request.get_chunk(quote.fragment).text)
            for quote in self._selector.select_quotes(request, passages, closeness, most)
        )


async def _write_quotes(quoted: Sequence[QuotedFragment], take: TakePiece, opening: str = "") -> None:
    """Gives the quotes. opening: text before the first piece, in the same piece, since its language is
    detected by piece.
    """
    for index, one in enumerate(quoted):
        if index:
            take(Text("\n"))
        for number, piece in enumerate(one.pieces):
            begins = opening.rstrip() + "\n\n" if opening and piece.startswith("| ") else opening
            take(Text(piece if index or number else begins + piece))
            await asyncio.sleep(0)  # a long reply must not hold up the other streams
        take(one.citation)
        take(Checked())


def _explain_missing(request: Request, answers: Sequence[tuple[QuotedFragment, ...]], number: int) -> str:
    """Returns the sentence for a question that nothing answers, or that an earlier answer answers too."""
    if answers[number]:
        return say("part_same", request.english, number=answers.index(answers[number]) + 1)
    return say("part_not_found", request.english, seed=request.sub_requests[number].question)
