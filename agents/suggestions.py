"""Suggests what a customer may ask next.

After an answer that is what passed the same gate beside it, and so can be answered; after a question that the documents
do not answer, what is nearest to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.answering.document_names import find_topic, format_heading, format_title
from agents.answering.question_phrases import strip_heading, write_question
from agents.passages.quotable import is_safe_text
from agents.places import RelatedPlace
from knowledge.types import Candidate, Chunk

MAX_SUGGESTIONS = 3


def suggest_neighbours(passing: Iterable[Candidate], used: Sequence[Candidate]) -> tuple[str, ...]:
    """Returns FAQ questions first, then questions about other sections; none that the answer was made of."""
    known = {_identify_place(candidate) for candidate in used}
    rest = [c for c in passing if not c.chunk.is_in_view and _identify_place(c) not in known]
    rest.sort(key=lambda candidate: candidate.chunk.question is None)
    return tuple(dict.fromkeys(text for text in map(_build_question, rest) if text and is_safe_text(text)))[
        :MAX_SUGGESTIONS
    ]


def list_related_places(candidates: Iterable[Candidate], *, whole: bool = False) -> tuple[RelatedPlace, ...]:
    """Returns the first places of the candidates, each topic once. whole: the documents instead of places in them."""
    found: dict[str, RelatedPlace] = {}
    for candidate in candidates:
        related = _build_related_place(candidate.chunk, candidate.probability, whole)
        if related.topic and is_safe_text(related.topic):
            found.setdefault(related.topic, related)
    return tuple(found.values())[:MAX_SUGGESTIONS]


def _build_related_place(chunk: Chunk, score: float, whole: bool) -> RelatedPlace:
    title = format_title(chunk)
    topic = title if whole else find_topic(chunk)
    question = "" if whole or topic == title else chunk.question or write_question(title, topic, chunk.text)
    return RelatedPlace(
        chunk.document.id, title, "" if topic == title else topic, score, question or strip_heading(topic)
    )


def _identify_place(candidate: Candidate) -> tuple[str, ...]:
    """Returns the identity of a place: chunks of one FAQ entry or one section are the same."""
    chunk = candidate.chunk
    return (chunk.document.id, chunk.entry) if chunk.question else (chunk.document.id, *chunk.heading_path)


def _build_question(candidate: Candidate) -> str | None:
    """Returns a question that a customer would ask about the candidate; None where there is none."""
    chunk = candidate.chunk
    if chunk.question:
        return chunk.question
    return write_question(format_title(chunk), format_heading(chunk), chunk.text)
