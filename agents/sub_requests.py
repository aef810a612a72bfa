"""Splits the generator's request into the questions of one message, each with its own fragments."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answering.subjects import find_foreign_model
from agents.generator import PAGE, SubRequest
from agents.types import Question
from knowledge.codes import find_question_codes
from knowledge.continuity import QUESTIONS
from knowledge.types import Candidate, Retrieval


def build_sub_requests(
    question: Question, retrieval: Retrieval, fragments: Sequence[Candidate], before: Sequence[str]
) -> tuple[SubRequest, ...]:
    """Returns the questions of a message with their fragments; empty where it is one question or none was searched by
    itself.

    Args:
        question: of the customer.
        retrieval: what was found for it and for its questions.
        fragments: of the request, which may be quoted.
        before: the earlier questions of the conversation.
    """
    texts = question.sub_question_texts
    if len(texts) < 2 or len(texts) != len(retrieval.parts):
        return ()
    numbers = {candidate.chunk.entry: number for number, candidate in enumerate(fragments)}
    spoken = () if question.model_questions else question.sub_questions
    told = [*before, *texts] if spoken else []
    parts = []
    for place, (text, found) in enumerate(zip(texts, retrieval.parts, strict=True)):
        passing = [candidate.chunk for candidate in found.passing_candidates]
        if find_foreign_model(find_question_codes(text), passing):
            passing = []
        parts.append(
            SubRequest(
                text,
                tuple(
                    PAGE if chunk.is_in_view else numbers[chunk.entry]
                    for chunk in passing
                    if chunk.is_in_view or chunk.entry in numbers
                ),
                found.terms,
                found.idf,
                context="\n".join(told[: len(before) + place][-QUESTIONS:]),
                vector=spoken[place].vector if spoken else None,
                context_vector=spoken[place].context_vector if spoken else None,
            )
        )
    return tuple(parts)


def is_confident(retrieval: Retrieval, confident: float) -> bool:
    """Whether the answer needs no disclaimer: of several questions the least sure one that is answered decides."""
    found = [part.confidence for part in retrieval.parts if part.passing_candidates] or [retrieval.confidence]
    return min(found) >= confident
