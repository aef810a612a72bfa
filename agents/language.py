"""The language of what is said in fixed words, to a customer who may write three letters."""

from __future__ import annotations

import re

from agents.profile import TenantProfile
from agents.types import Question

SURE_WORDS = 4
"""A message of so many Latin words is English by itself; OK or iPhone 15 is written by whoever speaks Chinese too."""
_WORD = re.compile(r"(?<![A-Za-z0-9-])[A-Za-z]{2,}(?![A-Za-z0-9-])")


def in_english(question: Question, profile: TenantProfile) -> bool:
    """Whether the reply is English: as the profile says, or as the customer writes, a short message going by those
    before it and by what was proposed.
    """
    if not profile.replies_in_english(question.text):
        return False
    if profile.reply_language == "en" or len(_WORD.findall(question.text)) >= SURE_WORDS:
        return True
    before = [turn.question for turn in question.history]
    if question.proposal is not None:
        before += question.proposal.fields.values()
    return all(map(profile.replies_in_english, before)) and any(map(_WORD.search, [question.text, *before]))
