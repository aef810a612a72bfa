"""Finds days that recur: 每月第二个周六, 每月 15 日，遇周末顺延, every last Friday; and parts of the year."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agents.understanding.periods import DAY
from agents.verification.quantities import convert_numerals
from knowledge.text import fold

_WEEKDAYS = {character: place for place, character in enumerate("一二三四五六日")} | {"天": 6}
_LATIN = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ORDINALS = ("first", "second", "third", "fourth", "last")
_SATURDAY = 5
_NAMED = r"(?:1[0-2]|0?[1-9])\s?月"
_EVERY = re.compile(
    rf"(?:每个?月|(?P<months>{_NAMED}(?:\s?[、和及与]\s?{_NAMED})*))的?\s?"
    r"(?:第?(?P<nth>\d)个?|(?P<last>最后)1?一?个?)(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
    r"|每个?月的?\s?(?P<day>[12]\d|3[01]|0?[1-9])\s?[日号]"
    r"|每(?:周|星期|礼拜)(?P<weekly>[一二三四五六日天])(?![至到、和次~-])"
    rf"|(?:every|each|the)\s+(?P<ordinal>{'|'.join(_ORDINALS)})\s+(?P<latin>{'|'.join(_LATIN)})"
    r"(?:\s+of\s+(?:the|each|every)\s+month)?"
)
_POSTPONED = re.compile(r"(?:周末|周六|双休|节假日|休息日|非工作日)[^。;]{0,8}(?:顺延|推迟|延后|延至)")
_MONTH = r"(?:1[0-2]|0?[1-9])\s?月(?:\s?(?:3[01]|[12]\d|0?[1-9])\s?[日号])?"
_RANGE = re.compile(rf"(?P<first>{_MONTH})\s*(?:[到至~-]|—+|–)\s*(?:次年|翌年|第2年)?(?P<last>{_MONTH})")
_BESIDE_DIGITS = re.compile(r"(?<=[一-鿿])(?=\d)|(?<=\d)(?=[一-鿿])")
_SENTENCE = re.compile(r"[^。！？!?;|\n]+")


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A recurring day, as it is written. `weekday` counts from Monday."""

    written: str
    sentence: str
    weekday: int | None = None
    # 0 is the last one of a month, None every one.
    nth: int | None = None
    # Of the month.
    day: int | None = None
    # To the Monday after a weekend.
    postponed: bool = False
    # Only in these, empty for all.
    months: frozenset[int] = frozenset()

    def list_days(self, first: date, last: date) -> list[tuple[date, date]]:
        """Returns from the first to the last day: the regular day, and the day it is moved to."""
        found, day = [], first
        while day <= last:
            if self._is_on(day):
                found.append((day, self._move_to_monday(day)))
            day += DAY
        return found

    def _is_on(self, day: date) -> bool:
        if self.months and day.month not in self.months:
            return False
        if self.day is not None:
            return day.day == self.day
        if day.weekday() != self.weekday:
            return False
        if self.nth is None:
            return True
        return (day + 7 * DAY).month != day.month if self.nth == 0 else (day.day - 1) // 7 + 1 == self.nth

    def _move_to_monday(self, day: date) -> date:
        late = day.weekday() - _SATURDAY
        return day + timedelta(days=2 - late) if self.postponed and late >= 0 else day


def find_recurrences(text: str) -> Iterator[Recurrence]:
    """Yields the recurring days in a quoted text."""
    for match in _SENTENCE.finditer(convert_numerals(fold(text))):
        sentence = match.group()
        for found in _EVERY.finditer(sentence):
            yield _parse_recurrence(found, sentence)


def _parse_recurrence(found: re.Match[str], sentence: str) -> Recurrence:
    written, postponed = _BESIDE_DIGITS.sub(" ", found.group()), _POSTPONED.search(sentence) is not None
    if found["day"]:
        return Recurrence(written, sentence, day=int(found["day"]), postponed=postponed)
    if found["ordinal"]:
        nth = (_ORDINALS.index(found["ordinal"]) + 1) % len(_ORDINALS)
        return Recurrence(written, sentence, _LATIN.index(found["latin"]), nth, postponed=postponed)
    if found["weekly"]:
        return Recurrence(written, sentence, _WEEKDAYS[found["weekly"]], postponed=postponed)
    months = frozenset(map(int, re.findall(r"\d+", found["months"] or "")))
    weekday, nth = _WEEKDAYS[found["weekday"]], int(found["nth"] or 0)
    return Recurrence(written, sentence, weekday, nth, postponed=postponed, months=months)


def find_seasons(texts: Sequence[str], first: date, last: date) -> tuple[list[str], int]:
    """Returns the ranges of months, as they are written, that hold all of some days, and how many ranges there are."""
    ranges = dict.fromkeys(match.group() for text in texts for match in _RANGE.finditer(fold(text)))
    holding = [written for written in ranges if _is_in_range(written, first) and _is_in_range(written, last)]
    return holding, len(ranges)


def _is_in_range(written: str, day: date) -> bool:
    match = _RANGE.fullmatch(written)
    if match is None:
        return False
    start, end = _parse_day(match["first"], 1), _parse_day(match["last"], 31)
    month_day = day.month, day.day
    return start <= month_day <= end if start <= end else month_day >= start or month_day <= end


def _parse_day(written: str, day: int) -> tuple[int, int]:
    numbers = [int(number) for number in re.findall(r"\d+", written)]
    return numbers[0], numbers[1] if len(numbers) > 1 else day
