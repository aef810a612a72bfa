"""Finds the words of a question that nothing explains, and that may change which rows are right.

A content word that was not understood (便宜的那单, 两件以上) makes every answer a guess; a particle does not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agents.business.offline.language import Language
from agents.understanding.parts_of_speech import tag_words

_PARTICLES = "了吗呢吧啊的过着么没"
_NUMERALS = "一二两三四五六七八九十0123456789"
# Tags of names: those of an example are not meant by every question.
PROPER = ("ns", "nr", "nz", "nt", "x")
_UNITS = "个笔单张次件样条回趟台只块副部把双瓶盒天周位号点家款"
_MEASURES = frozenset(["", *_UNITS])
_BOUNDS = ("以", "及以", "多", "左右", "起", "之内")
THINGS = ("n", "vn", "an", "ng")
_NAMES = ("n", "x")
# First letters of jieba's tags of words with content.
CONTENT = frozenset("natvijm")


@dataclass(frozen=True, slots=True)
class Odd:
    """A word that nothing explains, with jieba's tag."""

    text: str
    tag: str
    start: int


def find_odd_words(
    text: str, unread: str, language: Language, words: Collection[str], examples: str, number: bool
) -> list[Odd]:
    """Returns the content words of a question that were not understood.

    Args:
        text: the question.
        unread: the text with blanks for all that was understood.
        language: words that say nothing here.
        words: words of the subject's examples, which say nothing besides.
        examples: their texts, joined; parts of them say nothing besides.
        number: whether a number is asked for, so that a part of a word counts too.
    """
    odd: list[Odd] = []
    position = 0
    for word, tag in tag_words(text):
        end = position + len(word)
        rest = unread[position:end].strip().strip(_PARTICLES)
        begin, position = position, end
        if not rest or _is_how_many(rest, text[end:]) or (rest != word and not number and len(rest) < 2):
            continue
        # A word such as 最 or 除了 changes the rows even where examples of the subject have it.
        heavy = any(other in rest for other in language.weighty)
        known = any(form in words or form in language.filler for form in (rest, word)) or (
            len(rest) > 1 and not tag.startswith(PROPER) and rest in examples
        )
        content = tag[0] in CONTENT and (number or tag[0] != "v") and (len(rest) > 1 or tag[0] in "am")
        if heavy or (not known and (content or tag == "eng")):
            odd.append(Odd(rest, tag, text.find(rest, begin)))
    return odd


def _is_how_many(word: str, after: str) -> bool:
    """Whether it asks for a number, or says how many things were named: 几笔, 那两单; not 两件以上."""
    if after.lstrip(_UNITS).startswith(_BOUNDS):
        return False
    return len(word) <= 3 and (word[0] in "几多" or word.strip(_NUMERALS) in _MEASURES)


def find_only_thing(odd: Sequence[Odd], text: str, language: Language) -> Odd | None:
    """Returns the only unexplained word, where it is the name of a thing: 买过冰箱吗, 大理的酒店; None otherwise."""
    if len(odd) != 1 or not odd[0].tag.startswith(_NAMES) or len(odd[0].text) < 2:
        return None
    return odd[0] if odd[0].tag not in THINGS or text[: odd[0].start].endswith(language.slots) else None
