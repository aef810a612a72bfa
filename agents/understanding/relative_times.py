"""Times by their distance from today: 最近三个月, 上周五, 昨天, 三天前, 上上个月."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agents.understanding.amounts import parse_amount
from agents.understanding.periods import (
    DAY,
    PART,
    YEARS,
    Period,
    build_day,
    build_day_range,
    build_month_part,
    move_back_months,
)

A_FEW = 7
NUMBER = r"(?:\d{1,3}|[一二两三四五六七八九十]{1,3})"
UNIT = r"(?:天|日(?!志)|周|星期|礼拜|月|季度|年)"
_UNIT = UNIT.replace("(?:", "(?P<unit>", 1)
_SINCE = r"(?:最近|近|过去|往前|前|这)的?这?"
WITHIN = r"(?:以?内|之内|里(?!面)|以?来)"
_RECENT = re.compile(rf"(?={_SINCE}|.*{WITHIN}$)(?:{_SINCE})?(?P<n>{NUMBER}|几|半)个?{_UNIT}(?:{WITHIN}|间)?")
_LAST = re.compile(rf"上(?P<n>{NUMBER})个?{_UNIT}")
_AGO = re.compile(rf"(?P<n>{NUMBER})个?{_UNIT}前")
_WEEKDAY = "(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?"
_WEEK = re.compile(
    rf"(?P<which>上上|上|这|本|下下|下)?个?{_WEEKDAY}(?:[到至~-](?:周|星期|礼拜)?(?P<last>[一二三四五六日天]))?"
)
_MONTH = re.compile(
    rf"(?P<which>上上|上|这|本|当|下)个?月的?(?:(?P<part>{PART})|(?P<day>{NUMBER})[日号](?:[到至~-](?P<last>{NUMBER})[日号])?)?"
)
_QUARTER = re.compile(r"(?P<which>上|这|本|下)个?季度")
_DAY_OF_MONTH = re.compile(rf"(?P<day>{NUMBER})号")
_DAYS = {"大前天": 3, "前天": 2, "昨": 1, "今": 0, "刚才": 0, "明": -1, "后天": -2}
_DAY = re.compile(rf"(?!{'|'.join(YEARS)})(?P<word>{'|'.join(_DAYS)}).*")
_STEPS = {"上上": 2, "上": 1, "这": 0, "本": 0, "当": 0, "": 0, "下": -1, "下下": -2}
_WEEKDAYS = {character: weekday for weekday, character in enumerate("一二三四五六日")} | {"天": 6}
_MONTHS = {"月": 1, "季度": 3, "年": 12}


def _read_day(match: re.Match[str], today: date) -> Period:
    return build_day(today - timedelta(days=_DAYS[match["word"]]))


def _read_day_of_month(match: re.Match[str], today: date) -> Period | None:
    number = int(parse_amount(match["day"]))
    first = today.replace(day=1) if number <= today.day else move_back_months(today.replace(day=1), 1)
    return build_day_range(first.year, first.month, number, number)


def _read_week(match: re.Match[str], today: date) -> Period:
    monday = today - timedelta(days=today.weekday() + 7 * _STEPS[match["which"] or ""])
    if match["day"] is None:
        return Period(monday, monday + 7 * DAY)
    day = monday + (5 if match["day"] == "末" else _WEEKDAYS[match["day"]]) * DAY
    day = day - 7 * DAY if not match["which"] and day > today else day
    if match["last"]:
        return Period(day, day + (1 + (_WEEKDAYS[match["last"]] - day.weekday()) % 7) * DAY)
    return Period(day, day + 2 * DAY) if match["day"] == "末" else build_day(day)


def _read_month(match: re.Match[str], today: date) -> Period | None:
    first = move_back_months(today.replace(day=1), _STEPS[match["which"]])
    if match["day"]:
        begin, end = (int(parse_amount(day)) for day in (match["day"], match["last"] or match["day"]))
        return build_day_range(first.year, first.month, begin, end)
    return build_month_part(first, match["part"] or "")


def _read_quarter(match: re.Match[str], today: date) -> Period:
    first = move_back_months(_find_first_day("季度", today), 3 * _STEPS[match["which"]])
    return Period(first, move_back_months(first, -3))


def _read_last(match: re.Match[str], today: date) -> Period | None:
    """Reads 上两个月: so many whole months, up to this one."""
    if match["unit"] in "天日":
        return None
    end = _find_first_day(match["unit"], today)
    return Period(_go_back(end, int(parse_amount(match["n"])), match["unit"]), end)


def _read_ago(match: re.Match[str], today: date) -> Period:
    """Reads 三天前 as that day, 两个月前 as that month."""
    number, unit = int(parse_amount(match["n"])), match["unit"]
    start = _go_back(_find_first_day(unit, today), number, unit)
    return Period(start, _go_back(start, -1, unit))


def find_exact_day(text: str, today: date) -> date | None:
    """Returns the day of 三天前 and 两周前; None for a month, which is too long to mean one day."""
    match = _AGO.fullmatch(text)
    if match is None or match["unit"] in _MONTHS:
        return None
    return _go_back(today, int(parse_amount(match["n"])), match["unit"])


def _read_recent(match: re.Match[str], today: date) -> Period:
    count, unit = match["n"], match["unit"]
    if count == "半":
        start = move_back_months(today, 6) if unit == "年" else today - timedelta(days=15)
    elif unit in _MONTHS:
        start = _go_back(today, 3 if count == "几" else int(parse_amount(count)), unit)
    elif count == "几":
        start = today - timedelta(days=A_FEW * (1 if unit in "天日" else 3) - 1)
    else:
        start = _go_back(today, int(parse_amount(count)), unit) + DAY * (unit in "天日")
    return Period(start, today + DAY)


def _find_first_day(unit: str, today: date) -> date:
    """Returns the first day of the current week, month ..."""
    if unit in ("天", "日"):
        return today
    if unit not in _MONTHS:
        return today - timedelta(days=today.weekday())
    first = today.replace(day=1)
    return first if unit == "月" else first.replace(month=1 if unit == "年" else (today.month - 1) // 3 * 3 + 1)


def _go_back(day: date, number: int, unit: str) -> date:
    """Returns the day so many units earlier, later where the number is negative."""
    if unit in _MONTHS:
        return move_back_months(day, number * _MONTHS[unit])
    return day - timedelta(days=number * (1 if unit in "天日" else 7))


# Patterns of whole expressions, which are tried in this order, and how each is read; None is left to those behind it.
RELATIVE = (
    (_DAY, _read_day),
    (_DAY_OF_MONTH, _read_day_of_month),
    (_WEEK, _read_week),
    (_MONTH, _read_month),
    (_QUARTER, _read_quarter),
    (_LAST, _read_last),
    (_AGO, _read_ago),
    (_RECENT, _read_recent),
)
