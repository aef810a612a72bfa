"""Continues a conversation with the article that answered before, where no other article is clearly nearer."""

from __future__ import annotations

from agents.answering.scoring import extract_bigrams
from agents.types import Question
from knowledge.types import Candidate, Chunk, Retrieval


def keep_article(question: Question, retrieval: Retrieval) -> tuple[Candidate, ...]:
    """Returns what may be answered from, best first.

    Of articles only those of the last answer stay, where they are as near as others, unless the message names another
    one: manuals of two products say different things of the same. Curated answers and the page in view stay.
    """
    found, cited = retrieval.passing_candidates, question.state.context.documents
    others = [one for one in found if _is_article(one.chunk) and one.chunk.document.id not in cited]
    own = next((one for one in found if _is_article(one.chunk) and one not in others), None)
    if (
        not retrieval.goes_on
        or own is None
        or any(_has_title_words(question.utterance.complete_text, one.chunk, own.chunk) for one in others)
    ):
        return found
    return tuple(one for one in found if one not in others)


def _is_article(chunk: Chunk) -> bool:
    return chunk.question is None and not chunk.is_in_view


def _has_title_words(text: str, chunk: Chunk, own: Chunk) -> bool:
    """Whether a text has something of a document's title that the title of the other one lacks."""
    return bool(extract_bigrams(text) & extract_bigrams(chunk.document.title) - extract_bigrams(own.document.title))
