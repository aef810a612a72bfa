"""Times as customers say them, as days: 上个月, 最近三个月, 3月15日, 去年下半年, 3月到5月."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from agents.routing.amounts import amount

A_FEW = 7
DAY = timedelta(days=1)
_NUMBER = r"(?P<n>\d+|[一二两三四五六七八九十]+|几|半)"
_RECENT = re.compile(rf"(?:最近|近|过去|前|这|往前)的?{_NUMBER}个?(?P<unit>天|日|周|星期|礼拜|月|季度|年)")
_WEEK = re.compile(r"(?P<which>上上|上|这|本|下下|下)?个?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?")
_MONTH = re.compile(r"(?P<which>上上|上|这|本|当|下)个?月(?P<part>初|底|(?P<day>\d{1,2})[日号])?")
_QUARTER = re.compile(r"(?P<which>上|这|本|下)个?季度")
_HALF = re.compile(r"(?P<year>大前年|前年|去年|今年|明年)?(?P<half>上半年|下半年)")
_YEAR = re.compile(r"(?P<year>大前年|前年|去年|今年|明年)(?P<part>年?初|年?底)?")
_CALENDAR = re.compile(
    r"(?:(?P<year>(?:19|20)\d{2})\s*[-/.年]\s*|(?P<said>今年|去年|前年|明年))?"
    r"(?P<month>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s*(?:月份?|[-/.])?\s*"
    r"(?:(?P<day>3[01]|[12]\d|0?[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])[日号]?|(?P<part>初|底|上旬|中旬|下旬))?"
)
_DAY_OF_MONTH = re.compile(r"(?P<day>\d{1,2})号")
_FESTIVAL = re.compile(r"双(?:十一|11)|双(?:十二|12)")
_ANY_YEAR = re.compile(r"(?P<year>(?:19|20)\d{2})年")
_QUARTER_OF = re.compile(r"(?P<head>.*?)第?(?P<q>[一二三四1-4])季度")
_DAYS = {"大前天": 3, "前天": 2, "昨": 1, "今": 0, "刚才": 0, "明": -1, "后天": -2}
_YEARS = {"大前年": 3, "前年": 2, "去年": 1, "今年": 0, "明年": -1}
_STEPS = {"上上": 2, "上": 1, "这": 0, "本": 0, "当": 0, "": 0, "下": -1, "下下": -2}
_WEEKDAYS = {character: place for place, character in enumerate("一二三四五六日")} | {"天": 6}


@dataclass(frozen=True, slots=True)
class Period:
    """From `start` up to but without `end`; None: open."""

    start: date | None
    end: date | None


def period(text: str, today: date) -> Period | None:
    """The days that one expression names, None for one that is not known. `text` is folded."""
    for parse in (_recent, _day, _half, _quarter, _year, _week, _month, _calendar, _festival):
        if (found := parse(text, today)) is not None:
            return found
    return None


def _recent(text: str, today: date) -> Period | None:
    match = _RECENT.match(text)
    if match is None:
        return None
    said, unit = match["n"], match["unit"]
    if said == "半":
        start = _months_before(today, 6) if unit == "年" else today - timedelta(days=15)
    else:
        start = _back(today, A_FEW if said == "几" else int(amount(said)), unit, few=said == "几")
    return Period(start, today + DAY)


def _back(today: date, number: int, unit: str, few: bool) -> date:
    months = {"月": 1, "季度": 3, "年": 12}.get(unit)
    if months is not None:
        return _months_before(today, months * (3 if few else number))
    return today - timedelta(days=number * (1 if unit in "天日" or few else 7) - (unit in "天日"))


def _day(text: str, today: date) -> Period | None:
    for word, back in _DAYS.items():
        if text.startswith(word) and not text.startswith(("今年", "明年")):
            return _days(today - timedelta(days=back))
    if match := _DAY_OF_MONTH.fullmatch(text):
        number = int(match["day"])
        first = today.replace(day=1) if number <= today.day else _months_before(today.replace(day=1), 1)
        return _one_day(first.year, first.month, number)
    return None


def _half(text: str, today: date) -> Period | None:
    match = _HALF.match(text)
    if match is None:
        return None
    year = today.year - _YEARS.get(match["year"] or "今年", 0)
    second = match["half"] == "下半年"
    return Period(date(year, 7 if second else 1, 1), date(year + second, 1 if second else 7, 1))


def _quarter(text: str, today: date) -> Period | None:
    if match := _QUARTER.match(text):
        first = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
        first = _months_before(first, 3 * _STEPS[match["which"]])
        return Period(first, _months_before(first, -3))
    if match := _QUARTER_OF.fullmatch(text):
        year = _said_year(match["head"], today)
        number = "一二三四".find(match["q"]) + 1 or int(match["q"])
        first = date(year, number * 3 - 2, 1)
        return Period(first, _months_before(first, -3))
    return None


def _said_year(text: str, today: date) -> int:
    if match := _ANY_YEAR.search(text):
        return int(match["year"])
    return today.year - next((back for word, back in _YEARS.items() if text.startswith(word)), 0)


def _year(text: str, today: date) -> Period | None:
    if match := _ANY_YEAR.fullmatch(text):
        return Period(date(int(match["year"]), 1, 1), date(int(match["year"]) + 1, 1, 1))
    match = _YEAR.fullmatch(text)
    if match is None:
        return None
    year, part = today.year - _YEARS[match["year"]], match["part"] or ""
    start, end = date(year, 12 if part.endswith("底") else 1, 1), date(year + 1, 1, 1)
    return Period(start, date(year, 2, 1) if part.endswith("初") else end)


def _week(text: str, today: date) -> Period | None:
    match = _WEEK.match(text)
    if match is None:
        return None
    monday = today - timedelta(days=today.weekday() + 7 * _STEPS[match["which"] or ""])
    if match["day"] is None:
        return Period(monday, monday + 7 * DAY)
    if match["day"] == "末":
        return Period(monday + 5 * DAY, monday + 7 * DAY)
    day = monday + _WEEKDAYS[match["day"]] * DAY
    return _days(day - 7 * DAY if not match["which"] and day > today else day)


def _month(text: str, today: date) -> Period | None:
    match = _MONTH.match(text)
    if match is None:
        return None
    first = _months_before(today.replace(day=1), _STEPS[match["which"]])
    if match["day"]:
        return _one_day(first.year, first.month, int(match["day"]))
    return _part_of_month(first, match["part"] or "")


def _calendar(text: str, today: date) -> Period | None:
    match = _CALENDAR.match(text)
    if match is None or match.end() < len(text) or not re.search(r"[月/.-]", text):
        return None
    month = int(amount(match["month"]))
    if match["year"]:
        year = int(match["year"])
    else:
        back = _YEARS[match["said"]] if match["said"] else int(month > today.month)
        year = today.year - back
    if match["day"]:
        return _one_day(year, month, int(amount(match["day"])))
    return _part_of_month(date(year, month, 1), match["part"] or "")


def _festival(text: str, today: date) -> Period | None:
    if not _FESTIVAL.fullmatch(text):
        return None
    month = 11 if text.endswith(("十一", "11")) else 12
    day = date(today.year, month, month)
    return _days(day if day <= today else day.replace(year=today.year - 1))


def _part_of_month(first: date, part: str) -> Period:
    following = _months_before(first, -1)
    starts = {"初": 0, "上旬": 0, "中旬": 10, "下旬": 20, "底": 20}
    if part not in starts:
        return Period(first, following)
    start = first + starts[part] * DAY
    return Period(start, following if starts[part] == 20 else start + 10 * DAY)


def ahead(stretch: Period, today: date) -> Period:
    """A time of no said year, where what is asked for lies ahead: of this year, or of the next."""
    start, end = stretch.start, stretch.end
    while start is not None and end is not None and end <= today:
        start, end = _months_before(start, -12), _months_before(end, -12)
    return Period(start, end)


def _days(day: date) -> Period:
    return Period(day, day + DAY)


def _one_day(year: int, month: int, day: int) -> Period | None:
    try:
        return _days(date(year, month, day))
    except ValueError:
        return None


def _months_before(day: date, months: int) -> date:
    """The same day of another month, or that month's last."""
    place = day.year * 12 + day.month - 1 - months
    year, month = place // 12, place % 12 + 1
    last = (date(year + month // 12, month % 12 + 1, 1) - DAY).day
    return date(year, month, min(day.day, last))
