"""Decides the language of a reply, in one place for all that is said to a customer."""

from __future__ import annotations

from itertools import chain

from agents.profile import TenantProfile
from agents.types import Question
from agents.understanding.language import detect_english


def is_reply_english(question: Question, profile: TenantProfile) -> bool:
    """Whether the reply is English: as the profile says, else as the customer writes.

    A message that does not tell goes by a model's reading, by the proposal, and by earlier messages, the last one
    first.
    """
    if profile.reply_language != "auto":
        return profile.reply_language == "en"
    own = question.utterance.is_english
    if own is not None:
        return own
    proposed = question.proposal.fields.values() if question.proposal else ()
    before = (turn.utterance.original for turn in reversed(question.history))
    languages = (language for text in chain(proposed, before) if (language := detect_english(text)) is not None)
    return next(languages, question.utterance.reading.has_lone_english_word)
