"""Cuts a long curated answer to what was asked."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from agents.answering.selection import Quote, SentenceSelector, build_passages
from agents.generator import Request
from agents.passages.quotable import remove_orders
from agents.passages.sentences import split_sentences
from agents.passages.units import MAX_PROCEDURE_CHARS
from knowledge.text import Analyzer

# An opening of up to here, 可以。 or 不支持。, decides, and is never cut off.
MAX_VERDICT_CHARS = 15


def cut_curated_answer(request: Request) -> tuple[str, str]:
    """Returns what to show of the best fragment, a curated answer, and the same as the source has it; empty for
    nothing.

    It is quoted whole up to the length of a procedure; of a longer one the blocks that answer.
    """
    text = remove_orders(request.fragments[0].chunk.text)
    if len(text) <= MAX_PROCEDURE_CHARS:
        return text, text
    alone = replace(request, fragments=request.fragments[:1], page=None)
    quotes = _build_selector().select_quotes(alone, build_passages(alone), {})
    if not quotes:
        return text, text
    source = request.fragments[0].chunk.text
    quote = _add_verdict(quotes[0], source)
    return "".join(quote.build_pieces(source)), quote.join_source_text(source)


def _add_verdict(quote: Quote, source: str) -> Quote:
    first = split_sentences(source)[0]
    if quote.sentences[0] == first or len(first.text) > MAX_VERDICT_CHARS or first.is_question:
        return quote
    return replace(quote, sentences=(first, *quote.sentences), shown=(first.text, *quote.shown))


@cache
def _build_selector() -> SentenceSelector:
    """Builds the selector of all tenants: between the sentences of one answer a tenant's own words decide nothing."""
    return SentenceSelector(Analyzer(), 1)
