"""Numbers that name a person, in what a company publishes.

`app.privacy` masks whatever looks like one, because a customer's message must not be kept; here a wrong finding costs
somebody's time, so a number has to hold by its check digits, stand alone and not in a sample, an address or data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from app.quality.checks.prose import extract_prose
from knowledge.types import Chunk

_CARD = re.compile(r"\d{4}(?:[ -]?\d{4}){3}(?:[ -]?\d{1,3})?")
_ID = re.compile(r"\d{17}[\dXx]")
# What ties a number to what it is a part of: an address, a version, a key, the value of a field.
_GLUE = "._/=&?#@%+-~\"'`"
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://\S+", re.IGNORECASE)
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS = "10X98765432"
# First digits of the cards that banks issue (ISO/IEC 7812-1: travel, and banking).
_ISSUERS = "3456"


def find_personal_numbers(chunk: Chunk) -> frozenset[str]:
    """Returns the tags of `app.privacy` for the numbers in a passage: `bank_card`, `id_card`."""
    found: set[str] = set()
    for piece in extract_prose(chunk):
        text = _URL.sub(" ", piece)
        if any(map(is_citizen, _find_separate_numbers(text, _ID))):
            found.add("id_card")
        if any(map(is_card, _find_separate_numbers(text, _CARD))):
            found.add("bank_card")
    return frozenset(found)


def is_card(number: str) -> bool:
    """Whether it is the number of a card by its issuer and its last digit, that of Luhn (ISO/IEC 7812-1, annex B)."""
    digits = [int(digit) for digit in number if digit.isdigit()]
    if number[0] not in _ISSUERS or len(set(digits)) < 3:
        return False
    doubled = (digit if at % 2 == 0 else sum(divmod(digit * 2, 10)) for at, digit in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def is_citizen(number: str) -> bool:
    """Whether it is the number of a Chinese citizen: a day of birth, and the check character of GB 11643-1999."""
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False))
    return 1900 <= born.year <= date.today().year and _CHECKS[total % 11] == number[-1].upper()


def _find_separate_numbers(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    """Finds numbers with nothing tied to them, and not in quotes as in data."""
    for match in pattern.finditer(text):
        before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 2]
        if not _is_tied(before) and not (_is_tied(after[:1]) and (_is_tied(after[1:]) or after[0].isalnum())):
            yield match.group()


def _is_tied(neighbour: str) -> bool:
    return neighbour != "" and (neighbour in _GLUE or (neighbour.isascii() and neighbour.isalnum()))
