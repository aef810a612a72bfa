"""The language that a message is written in, as far as it tells."""

from __future__ import annotations

import re

from knowledge.codes import find_first_code, replace_codes
from knowledge.english import is_english

# A message of so many Latin words is English by itself; OK or iPhone 15 is written in Chinese too.
SURE_WORDS = 2
# A first message of one word is English from here: refund, unlike hi or VIP.
LONE_LETTERS = 5
# Of a message: its language shows before that.
READ_CHARS = 2000
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"(?<![A-Za-z0-9-])[A-Za-z]{2,}(?![A-Za-z0-9-])")


def has_chinese(text: str) -> bool:
    """Whether a text has a Chinese character."""
    return _HAN.search(text) is not None


def detect_english(text: str) -> bool | None:
    """Whether a text is English; None for one that does not tell."""
    text = text[:READ_CHARS]
    if has_chinese(text):
        return is_english(text)
    return True if len(_find_latin_words(text)) >= SURE_WORDS else None


def has_lone_english_word(text: str) -> bool:
    """Whether a text that follows nothing is an English word; beside a model name or a code it is part of that."""
    return (
        any(len(word) >= LONE_LETTERS for word in _find_latin_words(text))
        and find_first_code(text[:READ_CHARS]) is None
    )


def _find_latin_words(text: str) -> list[str]:
    """Latin words, but for those of model names and codes."""
    return _WORD.findall(replace_codes(text[:READ_CHARS], " "))
