"""Whether a reply holds a string, whatever its layout: how both are folded, and where a number begins and ends."""

from __future__ import annotations

import re
import unicodedata

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Marks of a list and citations.
_NOT_SAID = (
    re.compile(r"^\s*(?:\d+[.、)]|[-•·])\s+", re.MULTILINE),
    re.compile(r"\[(?:\d+|sql)\]", re.IGNORECASE),
)
_LAYOUT = re.compile(r"(?<!\*)\*\*(?!\*)|`|\s+")
_DASHES = str.maketrans(dict.fromkeys("~〜–—−", "-"))
_NUMERALS = frozenset("一二两三四五六七八九十百千")


def fold_text(text: str) -> str:
    """Folds a text: NFKC, lower case, one kind of dash; without blanks, marks of lists, citations and bold, and
    separators of thousands.
    """
    text = unicodedata.normalize("NFKC", _THOUSANDS.sub("", text)).casefold()
    return _LAYOUT.sub("", remove_marks(text)).translate(_DASHES)


def remove_marks(text: str) -> str:
    """Removes citations and the numbers of a list: they are layout, not facts."""
    for marks in _NOT_SAID:
        text = marks.sub(" ", text)
    return text


def contains_text(text: str, wanted: str) -> bool:
    """Whether a folded text says a string; a number only as a whole: 8元 is not in 18元, nor 7天 in 3-7天."""
    wanted = fold_text(wanted)
    if not wanted:
        return False
    start = text.find(wanted)
    while start >= 0:
        if _begins_number(text[:start], wanted[0]) and _ends_number(text[start + len(wanted) :], wanted[-1]):
            return True
        start = text.find(wanted, start + 1)
    return False


def _begins_number(before: str, first: str) -> bool:
    """Whether nothing before the first character belongs to the same number: no digit, decimal point or span."""
    if first in _NUMERALS:
        return before[-1:] not in _NUMERALS
    if not first.isdigit():
        return True
    return not (before[-1:].isdecimal() or (before[-1:] in tuple(".-至到") and before[-2:-1].isdecimal()))


def _ends_number(after: str, last: str) -> bool:
    """Whether nothing after the last character belongs to the same number; the noughts of 8.00 change nothing."""
    if not last.isdigit():
        return True
    return re.match(r"\d|\.\d*[1-9]", after) is None
