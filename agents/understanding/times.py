"""Finds the time that a question names, and where it stands in the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from agents.understanding.calendar_times import CALENDAR, DAY_NUMBER, FEAST, MONTH, MONTHS, QUARTER, YEAR
from agents.understanding.periods import PART, Period
from agents.understanding.relative_times import NUMBER, RELATIVE, UNIT, WITHIN

_NOT_AFTER = r"(?<![\d.第每一二三四五六七八九十])"
# Times that are no entities of their own, or more than one of them.
_MORE = tuple(
    re.compile(pattern)
    for pattern in (
        FEAST,
        QUARTER,
        rf"{_NOT_AFTER}(?<!月){MONTHS}",
        rf"(?:{YEAR})(?:{MONTH}月(?:份|{DAY_NUMBER}[日号]|的?{PART})?|的?(?:最后一天|第一天|今天|这一?天|这个?时候|同期))?",
        rf"(?:{YEAR})?{_NOT_AFTER}{MONTH}月{DAY_NUMBER}[日号]?[到至~-]{DAY_NUMBER}[日号]",
        rf"{_NOT_AFTER}{MONTH}月份?的?{PART}",
        rf"(?:{YEAR})?{_NOT_AFTER}{MONTH}月(?:3[01]|[12]\d|0?[1-9])(?![\d.,/元块万千百个件笔单多来])"
        r"(?![到至~-]\d{1,2}[日号])",
        rf"(?:上上|上|这|本|当)个?月的?(?:{PART}|{NUMBER}[日号](?:[到至~-]{NUMBER}[日号])?)",
        r"(?<![\d.a-z/])(?:1[0-2]|0?[1-9])[./](?:3[01]|[12]\d|0?[1-9])(?![\d.a-z/]|\s?[元块折寸%])[日号]?",
        rf"{_NOT_AFTER}(?:{NUMBER}|半)个?{UNIT}{WITHIN}",
        rf"{_NOT_AFTER}{NUMBER}个?{UNIT}前(?!面|后)",
        rf"上{NUMBER}个?{UNIT}",
        rf"{_NOT_AFTER}(?<![月个]){NUMBER}号(?![楼线店门机院])",
        r"(?:上上|上|这|本)?个?(?:周|星期|礼拜)[一二三四五六日天][到至~-](?:周|星期|礼拜)?[一二三四五六日天]",
        r"(?<!每)(?<!上)周末|年[初底]|月[初底]",
    )
)
_JOINED = re.compile(r"\s*(?:到|至|-|~|—)\s*")
_AND = re.compile(r"\s*(?:和|跟|、)?\s*")
_UNTIL_NOW = re.compile(r"\s*(?:(?:到|至)(?:现在|今天|目前|今)|以来|至今|起|之后|以后|开始)")
_BEFORE = re.compile(r"\s*(?:之前|以前|前(?!后|面|天|年|[一二三四五\d]))")
_BARE = {"年初": "今年初", "年底": "今年底", "月初": "这个月初", "月底": "这个月底"}


@dataclass(frozen=True, slots=True)
class TimeMention:
    """Where an expression stands, and the days that it means."""

    start: int
    end: int
    period: Period

    def get_text(self, text: str) -> str:
        return text[self.start : self.end]


def parse_period(text: str, today: date) -> Period | None:
    """Returns the days that one expression names; None for an unknown one. `text` is folded."""
    for pattern, read in (*RELATIVE, *CALENDAR):
        if (match := pattern.fullmatch(text)) is not None and (found := read(match, today)) is not None:
            return found
    return None


def find_time(text: str, named: Sequence[str], today: date) -> tuple[TimeMention | None, bool]:
    """Returns the time of a folded text, and whether the text names no other time. `named`: its date entities."""
    spans = _find_spans(text, named)
    places = _parse_spans(text, spans, today)
    if not places:
        return None, not spans
    unread = len(spans) - len(places)
    places = _merge_times(text, places)
    first, others = places[0], places[1:]
    if len(others) == 1 and text[: others[0].start].endswith(" "):
        # 我上个月花了 今年的: a follow-up that was completed ends with what is new
        first, others = others[0], []
    elif len(others) == 1 and text[first.end : others[0].start].endswith("("):
        others = [other for other in others if other.period != first.period]
    # 以来 and 之前 open the period at one end.
    if match := _UNTIL_NOW.match(text, first.end):
        first = replace(first, end=match.end(), period=Period(first.period.start, None))
    elif match := _BEFORE.match(text, first.end):
        last = first.period.end if first.get_text(text).endswith(("底", "末")) else first.period.start
        first = replace(first, end=match.end(), period=Period(None, last))
    return first, not others and not unread


def find_times(text: str, named: Sequence[str], today: date) -> list[TimeMention]:
    """Returns all times of a folded text, each by itself. `named`: its date entities."""
    return _parse_spans(text, _find_spans(text, named), today)


def _merge_times(text: str, places: Sequence[TimeMention]) -> list[TimeMention]:
    """Merges times that make one period together."""
    merged: list[TimeMention] = []
    for span in places:
        if merged and (stretch := _join_periods(text, merged[-1], span)):
            merged[-1] = replace(merged[-1], end=span.end, period=stretch)
        else:
            merged.append(span)
    return merged


def _parse_spans(text: str, spans: Sequence[tuple[int, int]], today: date) -> list[TimeMention]:
    found = []
    for start, end in spans:
        text_part = text[start:end]
        if (stretch := parse_period(_BARE.get(text_part, text_part), today)) is not None:
            found.append(TimeMention(start, end, stretch))
    return found


def _find_spans(text: str, named: Sequence[str]) -> list[tuple[int, int]]:
    """Places of the expressions, the longer one where two overlap."""
    spans = [match.span() for pattern in _MORE for match in pattern.finditer(text)]
    position = 0
    for name in named:
        if (start := text.find(name, position)) >= 0:
            position = start + len(name)
            spans.append((start, position))
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if start < end and all(end <= other[0] or other[1] <= start for other in kept):
            kept.append((start, end))
    return sorted(kept)


def _join_periods(text: str, first: TimeMention, second: TimeMention) -> Period | None:
    """Returns two times as one period, from one to the other or side by side; None where they are none."""
    between = text[first.end : second.start]
    one, two = first.period, second.period
    if _JOINED.fullmatch(between):
        return _connect_periods(one, two)
    if not _AND.fullmatch(between):
        return None
    if one.end == two.start:
        return Period(one.start, two.end)
    return Period(two.start, one.end) if two.end == one.start else None


def _connect_periods(first: Period, second: Period) -> Period | None:
    """Returns the period from one time to another. A year that is left out is the one that puts them in order; None
    where that would move their days.
    """
    start, end = first.start, second.end
    if start is not None and end is not None and end <= start:
        if first.following or second.following:
            return None
        behind = end.year < start.year
        return Period(start, end.replace(year=start.year)) if behind else Period(start.replace(year=end.year - 1), end)
    return Period(start, end)
