"""Times by their names in the calendar: 3月15日, 去年国庆, 5到8月, 11.3, 第三季度, 2025年."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from agents.understanding.amounts import parse_amount
from agents.understanding.feasts import NAMES, find_feast
from agents.understanding.periods import (
    PART,
    YEARS,
    Period,
    build_day,
    build_day_range,
    build_month_part,
    move_back_months,
)

_SAID = "|".join(YEARS)
YEAR = rf"(?:(?:19|20)?\d{{2}}年|{_SAID})的?"
MONTH = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
DAY_NUMBER = r"(?:3[01]|[12]\d|0?[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_CALENDAR = re.compile(
    rf"(?P<year>{YEAR}|(?:19|20)\d{{2}}\s*[-/.])?\s*(?P<month>{MONTH})\s*(?:月份?|[-/.])\s*"
    rf"(?:的?(?P<part>{PART})|(?P<day>{DAY_NUMBER})[日号]?(?:[到至~-](?P<last>{DAY_NUMBER})[日号]?)?)?"
)
MONTHS = rf"(?P<year>{YEAR})?(?P<month>{MONTH})月?份?[到至~、和-](?P<last>{MONTH})月份?"
QUARTER = rf"(?P<year>{YEAR})?(?:第?(?P<quarter>[一二三四1-4])季度|q(?P<q>[1-4])(?!\d))"
FEAST = (
    rf"(?P<year>{YEAR})?(?<![\d.])(?P<feast>{NAMES})节?"
    r"(?![元块之年月]|\d(?!天))"
    r"(?:(?P<single>[那当]一?天)|[的这]*[七7三3]天(?:长?假)?|(?P<around>(?:长?假期?|黄金周|放假)?(?:期间|[那这](?:几天|段时间|阵子?|一?周)|前后)?))"
)
_HALF = re.compile(rf"(?P<year>{YEAR})?(?P<half>[上下])半年")
_YEAR = re.compile(rf"(?P<year>{YEAR})(?P<part>年?[初底]|今天|这一?天|的?(?:最后|第)一天)?")


def _parse_year(text: str | None, today: date) -> int | None:
    if not text:
        return None
    if digits := re.match(r"\d+", text):
        return int(digits.group()) + 2000 * (len(digits.group()) == 2)
    return today.year - YEARS[text.rstrip("的")]


def _read_half_year(match: re.Match[str], today: date) -> Period:
    year, second = _parse_year(match["year"], today) or today.year, match["half"] == "下"
    return Period(date(year, 7 if second else 1, 1), date(year + second, 1 if second else 7, 1))


def _read_quarter(match: re.Match[str], today: date) -> Period:
    number = int(match["q"] or 0) or int(parse_amount(match["quarter"]))
    first = date(_parse_year(match["year"], today) or today.year, number * 3 - 2, 1)
    return Period(first, move_back_months(first, -3))


def _read_whole_year(match: re.Match[str], today: date) -> Period:
    year, part = _parse_year(match["year"], today) or today.year, match["part"] or ""
    if part.endswith(("最后一天", "第一天")):
        return build_day(date(year, 12, 31) if "最后" in part else date(year, 1, 1))
    if part.endswith("天"):
        return build_day(move_back_months(today, 12 * (today.year - year)))
    start, end = date(year, 12 if part.endswith("底") else 1, 1), date(year + 1, 1, 1)
    return Period(start, date(year, 2, 1) if part.endswith("初") else end)


def _read_months(match: re.Match[str], today: date) -> Period | None:
    first, last = int(parse_amount(match["month"])), int(parse_amount(match["last"]))
    year = _parse_year(match["year"], today) or today.year - (last > today.month)
    adjacent = not re.search("[、和]", match.string) or last - first == 1
    start = date(year - (first > last), first, 1)
    return Period(start, move_back_months(date(year, last, 1), -1)) if adjacent else None


def _read_month_or_day(match: re.Match[str], today: date) -> Period | None:
    month = int(parse_amount(match["month"]))
    year = _parse_year(match["year"], today) or today.year - (month > today.month)
    if match["day"]:
        return build_day_range(
            year, month, int(parse_amount(match["day"])), int(parse_amount(match["last"] or match["day"]))
        )
    return build_month_part(date(year, month, 1), match["part"] or "")


def _read_feast(match: re.Match[str], today: date) -> Period | None:
    """Returns the last such feast where no year is said; None for the time around a single day."""
    feast, around = find_feast(match.string[match.start("feast") :]), match["around"] or ""
    if around and (feast.days == 1 or around.endswith("前后")):
        return None
    feast = replace(feast, days=1) if match["single"] else feast
    year = _parse_year(match["year"], today)
    return feast.get_period(year) if year else feast.get_last_period(today)


# As `relative_times.RELATIVE`.
CALENDAR = (
    (_HALF, _read_half_year),
    (re.compile(QUARTER), _read_quarter),
    (_YEAR, _read_whole_year),
    (re.compile(MONTHS), _read_months),
    (_CALENDAR, _read_month_or_day),
    (re.compile(FEAST), _read_feast),
)
