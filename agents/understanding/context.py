"""What a conversation is about, as a search for its next message needs it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agents.understanding.normalise import compile_whole_word, normalise_text
from agents.understanding.reading import read
from knowledge.types import Context

if TYPE_CHECKING:
    from agents.types import Question


def list_earlier_questions(question: Question) -> tuple[str, ...]:
    """What the customer asked before, oldest first, without what the message takes back of it; then what is written in
    the pictures that it is about.
    """
    questions = question.state.context.questions
    for what in question.reading.withdrawn_words:
        questions = tuple(compile_whole_word(what).sub("", before) for before in questions)
    return *questions, *question.pictured


def build_search_context(question: Question) -> Context:
    """A day that the customer names (12 月是几号) is in no document: behind the questions before it the message is read
    without, since it would only lead away from what was talked about.
    """
    context = question.state.context
    questions = tuple(map(normalise_text, list_earlier_questions(question)))
    if not questions:
        return context
    return replace(
        context,
        questions=questions,
        message=read(question.normalized_text).text_without_dates,
        vector=question.context_vector,
    )


def build_part_context(question: Question, place: int) -> Context:
    """Of one of `spoken`: what is asked first in a message is talked about when the rest of it is asked, as if the
    customer had sent one question after another.
    """
    before, part = question.sub_questions[:place], question.sub_questions[place]
    context = build_search_context(question)
    if not context and not before:
        return context
    return replace(
        context,
        questions=(*context.questions, *(one.text for one in before)),
        subject="" if before else context.subject,
        message=read(part.text).text_without_dates,
        vector=part.context_vector,
    )
