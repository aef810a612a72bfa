"""Finds days in a message: 上周三, 11月2号, 2026-11-02, 昨天晚上8点, November 3, last Wednesday."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta

from agents.understanding.amounts import parse_amount
from agents.understanding.periods import DAY, Period, move_ahead, move_back_months
from agents.understanding.relative_times import find_exact_day
from agents.understanding.times import find_times

_YEAR_SAID = re.compile(r"\d{4}|年")
_CALENDAR = re.compile(r"(?:\d|[一二三四五六七八九十]).{0,2}[月./-]|双|节")
_CLOCK = re.compile(
    r"\s*(?P<part>凌晨|早上|上午|中午|下午|傍晚|晚上?|夜里)?\s*(?<!\d)(?P<hour>[01]?\d|2[0-4]|[一二两三四五六七八九十]{1,2})"
    r"(?::(?P<minute>[0-5]\d)|[点时](?!间|候)(?P<half>半)?)\s*(?P<latin>[ap]m)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_ENGLISH = (
    re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+(?P<year>\d{{4}}))?"),
    re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>\d{{4}}))?\b"),
    re.compile(r"\b(?P<word>the day before yesterday|yesterday|today|tomorrow)\b"),
    re.compile(rf"\b(?:(?P<which>last|this|next)\s+|on\s+)(?P<weekday>{'|'.join(_WEEKDAYS)})[a-z]*\b"),
    re.compile(r"\b(?P<ago>\d{1,3}|a|one|two|three|four|five|six|seven|ten)\s+(?P<unit>day|week)s?\s+ago\b"),
)
_WORDS = {"the day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1}
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}


@dataclass(frozen=True, slots=True)
class DateMention:
    """Where a time stands in the folded text, and its days from `first` to `last`."""

    start: int
    end: int
    first: date
    last: date
    # The hour of a single day.
    at: time | None = None
    # The year is a guess, the last one in which the day was.
    any_year: bool = False
    # The days a year later, where these are others.
    following: Period | None = None

    @property
    def is_single_day(self) -> bool:
        return self.first == self.last

    def get_coming_days(self, today: date) -> tuple[date, date]:
        """Returns its first and last day, those to come where no year is said."""
        if not self.any_year:
            return self.first, self.last
        stretch = move_ahead(Period(self.first, self.last + DAY, self.following), today)
        return stretch.start or self.first, (stretch.end or self.last + DAY) - DAY


def find_date_mentions(text: str, named: Sequence[str], today: date) -> tuple[DateMention, ...]:
    """Returns the times of a folded text whose days are certain but for the year, in order; a mere hour is one of
    today.

    named: its date entities.
    """
    found = [*_find_chinese_dates(text, named, today), *_find_english_dates(text, today)]
    found.sort(key=lambda mention: (mention.start, -mention.end))
    kept: list[DateMention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(_add_hour(text, mention))
    return tuple(kept) or tuple(_find_hours(text, today))


def remove_days(text: str, days: Sequence[DateMention]) -> str:
    """Removes the days of the calendar from a folded text; 周末 and 这个月 stay, since rules also name them."""
    for mention in reversed(days):
        if re.search(r"\d", text[mention.start : mention.end]):
            text = f"{text[: mention.start]} {text[mention.end :]}"
    return " ".join(text.split())


def _find_chinese_dates(text: str, named: Sequence[str], today: date) -> Iterator[DateMention]:
    for found in find_times(text, named, today):
        written = found.get_text(text)
        if day := find_exact_day(written, today):
            yield DateMention(found.start, found.end, day, day)
        elif found.period.start is not None and found.period.end is not None:
            following, last = found.period.following, found.period.end - DAY
            any_year = bool(following or _CALENDAR.search(written)) and not _YEAR_SAID.search(written)
            yield DateMention(found.start, found.end, found.period.start, last, any_year=any_year, following=following)


def _find_english_dates(text: str, today: date) -> Iterator[DateMention]:
    for pattern in _ENGLISH:
        for match in pattern.finditer(text):
            if (day := _parse_english_day(match.groupdict(), today)) is not None:
                yield DateMention(*match.span(), day, day, any_year="month" in match.groupdict() and not match["year"])


def _parse_english_day(groups: dict[str, str | None], today: date) -> date | None:
    if word := groups.get("word"):
        return today + _WORDS[word] * DAY
    if count := groups.get("ago"):
        number = _COUNTS.get(count) or int(count)
        return today - timedelta(days=number * (7 if groups["unit"] == "week" else 1))
    if weekday := groups.get("weekday"):
        monday = today - today.weekday() * DAY
        steps = {"last": -7, "next": 7}.get(groups["which"] or "", 0)
        day = monday + (_WEEKDAYS.index(weekday) + steps) * DAY
        return day - 7 * DAY if groups["which"] is None and day > today else day
    year = int(groups["year"] or today.year)
    try:
        day = date(year, _MONTHS.index(str(groups["month"])) + 1, int(str(groups["day"])))
    except ValueError:
        return None
    return move_back_months(day, 12) if not groups["year"] and day.month > today.month else day


def _add_hour(text: str, mention: DateMention) -> DateMention:
    match = _CLOCK.match(text, mention.end) if mention.is_single_day else None
    hour = _parse_clock(match) if match else None
    if match is None or hour is None:
        return mention
    return replace(mention, end=match.end(), at=hour)


def _find_hours(text: str, today: date) -> Iterator[DateMention]:
    for match in _CLOCK.finditer(text):
        certain = match["part"] or match["hour"].isdigit()  # 有一点 is no time
        if certain and (hour := _parse_clock(match)) is not None:
            yield DateMention(*match.span(), today, today, hour)


def _parse_clock(match: re.Match[str]) -> time | None:
    written = match["hour"]
    hour = int(written) if written.isdigit() else int(parse_amount(written))
    late = match["latin"] == "pm" or match["part"] in {"下午", "傍晚", "晚", "晚上", "夜里"}
    hour += 12 * (late and hour < 12)
    return time(hour, int(match["minute"] or (30 if match["half"] else 0))) if hour < 24 else None
