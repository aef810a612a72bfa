"""The context that the search for the next message of a conversation needs."""

from __future__ import annotations

from dataclasses import replace

from agents.types import Question
from agents.understanding.normalise import compile_whole_word, normalise_text
from agents.understanding.reading import read
from knowledge.types import Context


def list_earlier_questions(question: Question) -> tuple[str, ...]:
    """Returns the earlier questions, oldest first, without what the message withdraws of them; then texts in
    its pictures.
    """
    questions = question.state.context.questions
    for what in question.utterance.reading.withdrawn_words:
        questions = tuple(compile_whole_word(what).sub("", before) for before in questions)
    return *questions, *question.pictured


def build_search_context(question: Question) -> Context:
    """Builds the context of the search for a message.

    A day that the customer names (12 月是几号) is in no document, so the message is read without it behind earlier
    questions.
    """
    context = question.state.context
    questions = tuple(map(normalise_text, list_earlier_questions(question)))
    if not questions:
        return context
    return replace(
        context,
        questions=questions,
        message=read(question.utterance.normalized).text_without_dates,
    )


def build_part_context(question: Question, number: int) -> Context:
    """Builds the context of one of `sub_questions`: the questions before it in the message count as earlier
    questions.
    """
    before, part = question.sub_questions[:number], question.sub_questions[number]
    context = build_search_context(question)
    if not context and not before:
        return context
    return replace(
        context,
        questions=(*context.questions, *(one.text for one in before)),
        subject="" if before else context.subject,
        message=read(part.text).text_without_dates,
    )
