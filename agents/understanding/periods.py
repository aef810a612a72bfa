"""Periods of days, and how to get from one to another."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta

DAY = timedelta(days=1)
# How many years ago.
YEARS = {"大前年": 3, "前年": 2, "去年": 1, "今年": 0, "明年": -1}
# A part of a month.
PART = r"(?:[上中下]旬|[底末]?的?最后一天|[第头]一天|[初头中底末])"
# Days of a month before a part of it, which lasts ten days or to the month's end.
PARTS = {"初": 0, "头": 0, "上旬": 0, "中": 10, "中旬": 10, "下旬": 20, "底": 20, "末": 20}


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to but without `end`; None: open."""

    start: date | None
    end: date | None
    # The same a year later, where the days differ.
    following: Period | None = field(default=None, compare=False)


def build_day(day: date) -> Period:
    return Period(day, day + DAY)


def build_day_range(year: int, month: int, first: int, last: int) -> Period | None:
    """Returns the period from the first to the last day of a month; None where the month has no such days."""
    try:
        start, end = date(year, month, first), date(year, month, last)
    except ValueError:
        return None
    return Period(start, end + DAY) if start <= end else None


def build_month_part(first: date, part: str) -> Period:
    """Returns the month that begins on `first`, or a part of it."""
    following = move_back_months(first, -1)
    if part.endswith("一天"):
        return build_day(following - DAY if "最后" in part else first)
    if part not in PARTS:
        return Period(first, following)
    start = first + PARTS[part] * DAY
    return Period(start, following if PARTS[part] == 20 else start + 10 * DAY)


def move_back_months(day: date, months: int) -> date:
    """Returns the same day of an earlier month, or that month's last day."""
    months_since = day.year * 12 + day.month - 1 - months
    year, month = months_since // 12, months_since % 12 + 1
    last = (date(year + month // 12, month % 12 + 1, 1) - DAY).day
    return date(year, month, min(day.day, last))


def move_ahead(stretch: Period, today: date) -> Period:
    """Returns a time without a year as the next one to come."""
    start, end = stretch.start, stretch.end
    if start is not None and end == today + DAY:  # 这几天
        return Period(today, today + (end - start))
    if stretch.following is not None and end is not None and end <= today:
        return stretch.following
    while start is not None and end is not None and end <= today:
        start, end = move_back_months(start, -12), move_back_months(end, -12)
    return Period(start, end)


def choose_nearest(stretch: Period, today: date) -> Period:
    """Returns a time without a year in the year in which it is nearer, past or to come."""
    later = move_ahead(stretch, today)
    if stretch.end is None or stretch.start is None or later.start is None:
        return stretch
    return stretch if stretch.start > today or today - stretch.end < later.start - today else later
