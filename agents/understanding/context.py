"""What a conversation is about, as a search for its next message needs it."""

from __future__ import annotations

from dataclasses import replace

from agents.types import Question
from agents.understanding.dates import without_days
from agents.understanding.normalise import normalised
from knowledge.types import Context


def search_context(question: Question) -> Context:
    """A day that the customer names (12 月是几号) is in no document: behind the questions before it the message is read
    without, since it would only lead away from what was talked about.
    """
    context = question.state.context
    if not context:
        return context
    questions = tuple(map(normalised, context.questions))
    return replace(context, questions=questions, message=without_days(question.searched), vector=question.told)
