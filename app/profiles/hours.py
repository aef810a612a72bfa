"""Business hours of a tenant, as its profile writes them: `1-5 09:00-18:00`, Monday being 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_DAYS_OF_SPAN = "(?:[1-7]|1-[1-7]|2-[2-7]|3-[3-7]|4-[4-7]|5-[5-7]|6-[67]|7-7)"
_CLOCK = "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)"
# Opening hours as they are written.
SPAN = f"({_DAYS_OF_SPAN}(?:,{_DAYS_OF_SPAN})*) ({_CLOCK})-({_CLOCK})"
_DAYS = "一二三四五六日"
_ENGLISH_DAYS = "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
_WEEK = 7


@dataclass(frozen=True, slots=True)
class OpeningSpan:
    """Open from `start` to `end` on these days, 1 to 7; one that ends before it starts goes on past midnight."""

    days: frozenset[int]
    start: time
    end: time


@dataclass(frozen=True, slots=True)
class BusinessHours:
    """No spans: around the clock."""

    spans: tuple[OpeningSpan, ...]
    zone: ZoneInfo

    def is_open_at(self, moment: datetime) -> bool:
        """Whether somebody is to be there; moment: aware."""
        if not self.spans:
            return True
        local = moment.astimezone(self.zone)
        today = local.isoweekday()
        yesterday = (today - 2) % _WEEK + 1
        return any(_is_within(span, today, yesterday, local.time()) for span in self.spans)

    def find_next_opening(self, moment: datetime) -> datetime | None:
        """Returns when it opens next, in local time; None while it is open, or if it is always open."""
        if self.is_open_at(moment):
            return None
        local = moment.astimezone(self.zone)
        starts = [
            start
            for ahead in range(_WEEK + 1)
            for span in self.spans
            if (day := local.date() + timedelta(days=ahead)).isoweekday() in span.days
            and (start := datetime.combine(day, span.start, self.zone)) > local
        ]
        return min(starts)


def parse_business_hours(spans: Sequence[str], zone: str) -> BusinessHours:
    """Raises ValueError, with a message for people."""
    return BusinessHours(tuple(_parse_span(text) for text in spans), parse_zone(zone))


def parse_zone(name: str) -> ZoneInfo:
    """Raises ValueError, with a message for people, for one that this machine's tables do not have."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(f"时区 {name!r} 不认识，请写成 Asia/Shanghai 这样") from error


def format_opening(moment: datetime, today: datetime, *, english: bool = False) -> str:
    """Formats an opening time as people say it: 今天 09:00, 周一 09:00; today at 09:00, on Monday at 09:00."""
    days, weekday = (moment.date() - today.astimezone(moment.tzinfo).date()).days, moment.weekday()
    if english:
        day = {0: "today", 1: "tomorrow"}.get(days, f"on {_ENGLISH_DAYS[weekday]}")
        return f"{day} at {moment:%H:%M}"
    day = {0: "今天", 1: "明天"}.get(days, f"周{_DAYS[weekday]}")
    return f"{day} {moment:%H:%M}"


def _parse_span(text: str) -> OpeningSpan:
    match = re.fullmatch(SPAN, text)
    if match is None:
        raise ValueError(f"服务时间 {text!r} 不对，请写成 1-5 09:00-18:00 这样，1 是周一，7 是周日，日子从小到大")
    start, end = (time.fromisoformat(match.group(group).replace("24:00", "00:00")) for group in (2, 3))
    days: set[int] = set()
    for part in match.group(1).split(","):
        first, _, last = part.partition("-")
        days.update(range(int(first), int(last or first) + 1))
    return OpeningSpan(frozenset(days), start, end)


def _is_within(span: OpeningSpan, today: int, yesterday: int, clock: time) -> bool:
    if span.start < span.end:
        return today in span.days and span.start <= clock < span.end
    return (today in span.days and clock >= span.start) or (yesterday in span.days and clock < span.end)
