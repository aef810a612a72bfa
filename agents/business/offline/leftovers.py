"""What of a question nothing explains, and whether it may change which rows are right.

A word of content that was not understood (便宜的那单, 两件以上) makes every answer a guess; a stray 急 or 家 does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agents.business.offline.language import Language
from agents.business.tagging import tagged

_WORDS = re.compile(r"[^\W_]+(?:[\s.+-]*[^\W_]+)*")
_CONTENT = re.compile(r"n(?!r$)|[at]|v(?!d$)|eng|[ij]")
"""First letters of jieba's tags of words with content."""
_TELLING = re.compile(r"[a-z\d待未]")
"""What is never left out, not even a part of a word: 待付款."""
_NUMERAL = re.compile(r"[两二三四五六七八九十百千万]")
_ALWAYS = "a"
"""Words of this tag count however short they are: 大."""


def unread(text: str, heard: Iterable[str], patterns: Iterable[re.Pattern[str]]) -> str:
    """The text with spaces for all that was heard or says nothing."""
    left = list(text)
    for pattern in (*(re.compile(re.escape(part)) for part in heard if part), *patterns):
        for match in pattern.finditer(text):
            left[match.start() : match.end()] = " " * len(match.group())
    return "".join(left)


def words_of(left: str) -> list[str]:
    return [match.group() for match in _WORDS.finditer(left)]


def odd_words(text: str, left: str, language: Language, number: bool) -> list[str]:
    """The words of content that are unread as a whole, and those that are partly so where that says which rows are
    meant (忘付的单), or where a number is asked for; left: see `unread`.
    """
    odd, place = [], 0
    for word, tag in tagged(text):
        end = place + len(word)
        rest = left[place:end]
        whole = rest == word and (language.weighty.fullmatch(word) or _has_content(word, tag))
        part = rest.strip() and _CONTENT.match(tag) and (number or text.startswith("的", end))
        if whole or part or _TELLING.search(rest) or (tag == "m" and _NUMERAL.search(rest)):
            odd.append(word)
        place = end
    return odd


def is_noun(word: str) -> bool:
    """Whether a word is one, and a noun, or unknown."""
    tags = [tag for _, tag in tagged(word)]
    return all(tag[0] in "nvabx" or tag == "eng" for tag in tags) and tags[-1][0] != "t"


def _has_content(word: str, tag: str) -> bool:
    return _CONTENT.match(tag) is not None and (len(word) > 1 or tag[0] == _ALWAYS)
