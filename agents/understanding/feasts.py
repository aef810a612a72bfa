"""Holidays of the solar and of the lunar calendar, and their days in a year, from `feasts.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from agents.understanding.periods import DAY, Period
from knowledge.yaml_files import load_shipped_yaml


@dataclass(frozen=True, slots=True)
class Feast:
    """`names`: a pattern; `days`: how many it lasts. `month` and `day`: its first day, in every year; a lunar one has
    `first_days` by year instead.
    """

    names: str
    days: int
    month: int
    day: int
    first_days: Mapping[int, date]

    @property
    def is_lunar(self) -> bool:
        return bool(self.first_days)

    def get_period(self, year: int) -> Period | None:
        """Returns its days in a year; None for a lunar one in a year that the file does not hold."""
        first = self.first_days.get(year) if self.is_lunar else date(year, self.month, self.day)
        return None if first is None else Period(first, first + self.days * DAY)

    def get_last_period(self, today: date) -> Period | None:
        """Returns the last one that has begun, with the next one where that is not on the same days."""
        this = self.get_period(today.year)
        if this is None or this.start is None:
            return None
        year = today.year - (this.start > today)
        found = self.get_period(year)
        if found is None or not self.is_lunar:
            return found
        following = self.get_period(year + 1)
        return None if following is None else Period(found.start, found.end, following)


def find_feast(text: str) -> Feast:
    """Returns the holiday whose name a text begins with. Raises StopIteration where there is none."""
    return next(feast for feast in FEASTS if re.match(feast.names, text))


def _load_feasts() -> Sequence[Feast]:
    data = load_shipped_yaml("agents.understanding", "feasts.yaml")
    sun = [Feast(row["names"], row["days"], int(row["first"][:2]), int(row["first"][3:]), {}) for row in data["sun"]]
    moon = [Feast(row["names"], row["days"], 0, 0, {day.year: day for day in row["first"]}) for row in data["moon"]]
    return (*sun, *moon)


FEASTS = _load_feasts()
NAMES = "|".join(sorted((feast.names for feast in FEASTS), key=len, reverse=True))
