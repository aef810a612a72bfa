"""Formats days and periods for a reply."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from agents.answering.periods import PeriodUnit, Rule
from agents.wording.catalogue import say

_PERIODS = {
    PeriodUnit.HOUR: "period_hours",
    PeriodUnit.DAY: "period_days",
    PeriodUnit.WORKDAY: "period_workdays",
    PeriodUnit.WEEK: "period_weeks",
    PeriodUnit.MONTH: "period_months",
    PeriodUnit.YEAR: "period_years",
}


@dataclass(frozen=True, slots=True)
class DatePhrases:
    """The day and the language of the reply."""

    today: date
    english: bool

    def format_days(self, *days: date, weekday: bool = False) -> list[str]:
        """Returns days in words, all with their years where one of them is not this year's."""
        year = any(day.year != self.today.year for day in days)
        return [format_day(day, self.english, year=year, weekday=weekday) for day in days]

    def say(self, sentence: str, **values: str) -> str:
        return say(sentence, self.english, **values)


def format_day(day: date, english: bool, *, year: bool, weekday: bool = False) -> str:
    """Returns a day: 11 月 18 日, 2027 年 1 月 6 日, November 18, 12 月 12 日（周六）."""
    if english:
        name = f"{day:%B} {day.day}" + f", {day.year}" * year
        return f"{day:%A}, {name}" if weekday else name
    name = f"{day.year} 年 " * year + f"{day.month} 月 {day.day} 日"
    return f"{name}（周{'一二三四五六日'[day.weekday()]}）" if weekday else name


def format_period(rule: Rule, english: bool) -> str:
    """Returns how long a rule lasts: 3 个工作日, 3 business days."""
    count = f"{rule.amount:g}"
    return say(_PERIODS[rule.unit], english, count=count)
