"""What happened on the days that a message says, and which words tell one event from another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.understanding.asking import without_asking
from agents.understanding.dates import Said
from knowledge.text import fold

STEM = 4
"""Letters by which words of one stem are known: receipt, received."""
_BREAK = re.compile(r"[,。;!?\n]|(?<=[一-鿿])\s+(?=[一-鿿])")
_HAN = re.compile(r"[一-鿿]")
_LATIN = re.compile(r"[a-z]{3,}")
_FUNCTION = frozenset(
    "的了是在就还能吗呢吧啊那哪这个我你您他们到从自于后前内起之以及或和与按为"
    "天日号月年周时候今昨明上下第什么多久最晚迟早几有没不可要会应当须已被把给对"
)
_FUNCTION_WORDS = frozenset(
    {"the", "and", "for", "was", "can", "may", "you", "your", "afte", "befo", "with", "date", "days"}
)


@dataclass(frozen=True, slots=True)
class DatedEvent:
    """A day that a message says, the clause it stands in without it, and what tells that from other events."""

    said: Said
    text: str
    features: frozenset[str]


def features(text: str) -> frozenset[str]:
    """Characters that mean something by themselves, and stems of Latin words: 签收 and 收货 share 收."""
    plain = without_asking(fold(text))
    stems = {word[:STEM] for word in _LATIN.findall(plain)}
    return frozenset(_HAN.findall(plain)) - _FUNCTION | (stems - _FUNCTION_WORDS)


def events(message: str, said: Sequence[Said]) -> list[DatedEvent]:
    """The single days of a message with what it says of them; the whole of it where a day stands by itself."""
    text = fold(message)
    plain = _without(text, said, 0, len(text))
    found = []
    for one in (one for one in said if one.single):
        start, end = _clause(text, one)
        clause = _without(text, said, start, end).strip()
        found.append(DatedEvent(one, clause, features(clause) or features(plain)))
    return [event for event in found if event.features] or found


def _clause(text: str, said: Said) -> tuple[int, int]:
    """The clause around a time, up to the nearest break that does not touch it."""
    breaks = [match.span() for match in _BREAK.finditer(text)]
    start = max((end for _, end in breaks if end <= said.start), default=0)
    end = min((start for start, _ in breaks if start >= said.end), default=len(text))
    return start, end


def _without(text: str, said: Sequence[Said], start: int, end: int) -> str:
    """A part of a text without its times."""
    for one in reversed(said):
        if start <= one.start and one.end <= end:
            text, end = text[: one.start] + text[one.end :], end - (one.end - one.start)
    return text[start:end]
