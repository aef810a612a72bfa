"""What a customer may ask next: what stands beside an answer and passed the same gate, so that it can be answered, or
what is nearest to a question that the documents do not answer.
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
    """FAQ questions first, then what can be asked of other sections; none that the answer was made of."""
    known = {_identify_place(candidate) for candidate in used}
    rest = [c for c in passing if not c.chunk.in_view and _identify_place(c) not in known]
    rest.sort(key=lambda candidate: candidate.chunk.question is None)
    return tuple(dict.fromkeys(text for text in map(_build_question, rest) if text and is_safe_text(text)))[
        :MAX_SUGGESTIONS
    ]


def list_related_places(candidates: Iterable[Candidate], *, whole: bool = False) -> tuple[RelatedPlace, ...]:
    """The first places of their documents, each topic once; whole: the documents, not the places in them."""
    found: dict[str, RelatedPlace] = {}
    for candidate in candidates:
        place = _build_related_place(candidate.chunk, candidate.probability, whole)
        if place.topic and is_safe_text(place.topic):
            found.setdefault(place.topic, place)
    return tuple(found.values())[:MAX_SUGGESTIONS]


def _build_related_place(chunk: Chunk, score: float, whole: bool) -> RelatedPlace:
    title = format_title(chunk)
    topic = title if whole else find_topic(chunk)
    question = "" if whole or topic == title else chunk.question or write_question(title, topic, chunk.text)
    return RelatedPlace(
        chunk.document.id, title, "" if topic == title else topic, score, question or strip_heading(topic)
    )


def _identify_place(candidate: Candidate) -> tuple[str, ...]:
    """Chunks of one FAQ entry, or of one section, are one."""
    chunk = candidate.chunk
    return (chunk.document.id, chunk.entry) if chunk.question else (chunk.document.id, *chunk.heading_path)


def _build_question(candidate: Candidate) -> str | None:
    """None where there is no question that a customer would ask."""
    chunk = candidate.chunk
    if chunk.question:
        return chunk.question
    return write_question(format_title(chunk), format_heading(chunk), chunk.text)
