"""What happened on the days that a message says, and which words tell one event from another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.understanding.asking import without_asking
from agents.understanding.dates import Said
from agents.understanding.tagging import tagged
from knowledge.text import fold

STEM = 4
"""Letters by which words of one stem are known: receipt, received."""
_BREAK = re.compile(r"[,。;!?\n]|(?<=[一-鿿])\s+(?=[一-鿿])")
_HAN = re.compile(r"[一-鿿]")
_LATIN = re.compile(r"[a-z]{3,}")
_MODAL = re.compile(
    r"(?:能|可)(?![^一-鿿]|$|耐)|想|要(?!求)|打算|准备|还来|来得及|应该|是不是|是否|会不会|怎么|如何|什么|啥|哪|几(?!乎)|多久|"
    r"\b(?:can|could|may|will|would|should|do|does|is|am|want|when|how)\b"
)
"""What follows is asked or wished for, and has not happened."""
_NOT = re.compile(r"[没未不]|\b(?:not|never|n't)\b")
_SUPPOSED = re.compile(r"如果|假如|假设|要是|比方|\bif\b")
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
    doing: frozenset[str]


def features(text: str) -> frozenset[str]:
    """Characters that mean something by themselves, and stems of Latin words: 签收 and 收货 share 收."""
    plain = without_asking(fold(text))
    stems = {word[:STEM] for word in _LATIN.findall(plain)}
    return frozenset(_HAN.findall(plain)) - _FUNCTION | (stems - _FUNCTION_WORDS)


def doing(text: str) -> frozenset[str]:
    """The features of what is done: of the verbs, where there are any. Who takes a car, 提车, brings none, 还车."""
    words = [word for word, tag in tagged(without_asking(fold(text))) if tag.startswith("v")]
    found = features(text)
    return frozenset("".join(words)) & found or found


def events(message: str, said: Sequence[Said]) -> list[DatedEvent]:
    """The single days of a message on which something happened, with what it says of that."""
    text = fold(message)
    if _SUPPOSED.search(text):
        return []
    found = []
    for one in (one for one in said if one.single):
        start, end = _clause(text, one)
        clause = _happened(_without(text, said, start, end))
        found.append(DatedEvent(one, clause, features(clause), doing(clause)))
    return [event for event in found if event.features]


def _happened(clause: str) -> str:
    """A clause up to what is asked or wished for in it; nothing of one that says what did not happen."""
    said = _MODAL.split(clause)[0].strip()
    return "" if _NOT.search(said) else said


def stated(message: str, said: Sequence[Said]) -> str:
    """What a message says that is so, clause by clause, without its times and without what it asks."""
    text = fold(message)
    plain = _without(text, said, 0, len(text))
    return ",".join(_happened(clause) for clause in _BREAK.split(plain))


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
