"""The language of the reply: one decision for all that is said to a customer, who may write three letters."""

from __future__ import annotations

import re
from itertools import chain

from agents.asking import IDENTIFIER
from agents.profile import TenantProfile
from agents.types import Question
from knowledge.english import is_english

SURE_WORDS = 2
"""A message of so many Latin words is English by itself; OK or iPhone 15 is written by whoever speaks Chinese too."""
LONE_LETTERS = 5
"""A first message of one word is English from here: refund, unlike hi or VIP."""
READ_CHARS = 2000
"""Of a message: its language shows before that."""
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"(?<![A-Za-z0-9-])[A-Za-z]{2,}(?![A-Za-z0-9-])")


def in_english(question: Question, profile: TenantProfile) -> bool:
    """Whether the reply is English: as the profile says, or as the customer writes, a message that does not tell going
    by a model's reading, by what was proposed and by the messages before it, the last first.
    """
    if profile.reply_language != "auto":
        return profile.reply_language == "en"
    proposed = question.proposal.fields.values() if question.proposal else ()
    before = (turn.question for turn in reversed(question.history))
    own = _english(question.text)
    if own is None and question.language:
        return question.language == "en"
    told = (language for text in chain(proposed, before) if (language := _english(text)) is not None)
    return next(told, _lone_word(question.text)) if own is None else own


def _english(text: str) -> bool | None:
    """Whether a text is English; None for one that does not tell."""
    if _HAN.search(text[:READ_CHARS]):
        return is_english(text[:READ_CHARS])
    return True if len(_words(text)) >= SURE_WORDS else None


def _lone_word(text: str) -> bool:
    """Whether a text that follows nothing is an English word; beside a model name or a code it is part of that."""
    return any(len(word) >= LONE_LETTERS for word in _words(text)) and not IDENTIFIER.search(text[:READ_CHARS])


def _words(text: str) -> list[str]:
    """Latin words, but for those of model names and codes."""
    return _WORD.findall(IDENTIFIER.sub(" ", text[:READ_CHARS]))
