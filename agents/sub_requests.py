"""Splits the generator's request into the questions of one message, each with its own fragments."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answering.subjects import find_foreign_model
from agents.generator import PAGE, SubRequest
from agents.types import Findings, Question
from knowledge.codes import find_question_codes
from knowledge.continuity import QUESTIONS
from knowledge.types import NOT_EMBEDDED, Candidate, Retrieval


def build_sub_requests(
    question: Question, findings: Findings, retrieval: Retrieval, fragments: Sequence[Candidate], before: Sequence[str]
) -> tuple[SubRequest, ...]:
    """Returns the questions of a message with their fragments; empty where it is one question or none was searched by
    itself.

    Args:
        question: of the customer.
        findings: the vectors of its sub-questions.
        retrieval: what was found for it and for its questions.
        fragments: of the request, which may be quoted.
        before: the earlier questions of the conversation.
    """
    sub_questions = question.sub_questions
    if len(sub_questions) < 2 or len(sub_questions) != len(retrieval.parts):
        return ()
    numbers = {candidate.chunk.entry: number for number, candidate in enumerate(fragments)}
    earlier = [] if sub_questions[0].by_model else [*before, *(one.text for one in sub_questions)]
    parts = []
    for index, (one, part) in enumerate(zip(sub_questions, retrieval.parts, strict=True)):
        passing = [candidate.chunk for candidate in part.passing_candidates]
        if find_foreign_model(find_question_codes(one.text), passing):
            passing = []
        parts.append(
            SubRequest(
                one.text,
                tuple(
                    PAGE if chunk.is_in_view else numbers[chunk.entry]
                    for chunk in passing
                    if chunk.is_in_view or chunk.entry in numbers
                ),
                part.terms,
                part.idf,
                context="\n".join(earlier[: len(before) + index][-QUESTIONS:]),
                vectors=findings.sub_vectors.get(one, NOT_EMBEDDED),
            )
        )
    return tuple(parts)


def is_confident(retrieval: Retrieval, confident: float) -> bool:
    """Whether the answer needs no disclaimer: of several questions the least sure one that is answered decides."""
    found = [part.confidence for part in retrieval.parts if part.passing_candidates] or [retrieval.confidence]
    return min(found) >= confident
