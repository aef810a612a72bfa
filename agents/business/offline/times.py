"""Finds the one stretch of time that a question names, and where it stands in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from agents.business.offline.periods import DAY, Period, period

_MORE = re.compile(
    r"(?:(?:(?:19|20)\d{2}|今|去|前)年)?第?[一二三四1-4]季度|(?<!\d)(?:19|20)\d{2}年(?!\d|[一二三四五六七八九十])|年[初底]|月[初底]"
)
"""Times that are no entities of their own."""
_JOINED = re.compile(r"\s*(?:到|至|-|~|—|和|跟)\s*")
_UNTIL_NOW = re.compile(r"\s*(?:(?:到|至)(?:现在|今天|目前|今)|以来|至今|起|之后|以后|开始)")
_BEFORE = re.compile(r"\s*(?:之前|以前)")


@dataclass(frozen=True, slots=True)
class Found:
    """`said` is the expression as the customer wrote it."""

    start: int
    end: int
    period: Period

    def said(self, text: str) -> str:
        return text[self.start : self.end]


def find_time(text: str, named: Sequence[str], today: date) -> tuple[Found | None, bool]:
    """The time of a folded text, and whether it is all that the text says of times. `named`: its date entities."""
    places = _places(text, named, today)
    if not places:
        return None, not _spans(text, named)
    first = places[0]
    if len(places) == 2 and text[: places[1].start].endswith(" "):
        first, places = (
            places[1],
            places[1:],
        )  # 我上个月花了 今年的: a follow-up that was completed ends with what is new
    if len(places) > 1 and _JOINED.fullmatch(text[first.end : places[1].start]):
        return replace(first, end=places[1].end, period=_joined(first.period, places[1].period)), len(places) == 2
    if match := _UNTIL_NOW.match(text, first.end):
        first = replace(first, end=match.end(), period=Period(first.period.start, None))
    elif match := _BEFORE.match(text, first.end):
        first = replace(first, end=match.end(), period=Period(None, first.period.start))
    return first, len(places) == 1


def _places(text: str, named: Sequence[str], today: date) -> list[Found]:
    found = []
    for start, end in _spans(text, named):
        said = text[start:end]
        bare = {"年初": "今年初", "年底": "今年底", "月初": "这个月初", "月底": "这个月底"}.get(said, said)
        if (stretch := period(bare, today)) is not None:
            found.append(Found(start, end, stretch))
    return found


def _spans(text: str, named: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the expressions, the longer one where two overlap."""
    spans = [match.span() for match in _MORE.finditer(text)]
    position = 0
    for name in named:
        if (start := text.find(name, position)) >= 0:
            position = start + len(name)
            spans.append((start, position))
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end))
    return sorted(kept)


def _joined(first: Period, second: Period) -> Period:
    """Two times as one stretch; a year that is left out is the one that makes them follow each other."""
    start, end = first.start, second.end
    if start is not None and end is not None and end <= start:
        behind = end.year < start.year
        return Period(start, end.replace(year=start.year)) if behind else Period(start.replace(year=end.year - 1), end)
    return Period(start, end)


def until(stretch: Period) -> date | None:
    """The last day of a stretch."""
    return None if stretch.end is None else stretch.end - DAY
