"""Feasts: their days, the year that is meant, and what is not certain enough to be read."""

from __future__ import annotations

from datetime import date

import pytest

from agents.understanding.feasts import FEASTS, find_feast
from agents.understanding.periods import choose_nearest, move_ahead
from agents.understanding.reading import read
from agents.understanding.times import find_time

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("feast", "day"),
    [
        ("春节", "2020-01-25"),
        ("春节", "2026-02-17"),
        ("春节", "2033-01-31"),
        ("除夕", "2025-01-28"),
        ("元宵", "2024-02-24"),
        ("端午", "2023-06-22"),
        ("端午", "2025-05-31"),
        ("七夕", "2025-08-29"),
        ("中秋", "2025-10-06"),
        ("中秋", "2020-10-01"),
        ("重阳", "2025-10-29"),
        ("春节", "2040-02-12"),
    ],
)
def test_a_feast_of_the_moon_is_on_the_day_of_the_calendar(feast: str, day: str) -> None:
    first = date.fromisoformat(day)
    found = find_feast(feast).get_period(first.year)
    assert found is not None
    assert found.start == first


def test_the_file_holds_every_year_from_2020_to_2040_and_no_other() -> None:
    moon = [feast for feast in FEASTS if feast.is_lunar]
    assert len(moon) == 7
    assert all(list(feast.first_days) == list(range(2020, 2041)) for feast in moon)
    assert find_feast("中秋").get_period(2041) is None


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("中秋那天下的单", "2026-09-25", "2026-09-26"),
        ("去年中秋节买的", "2025-10-06", "2025-10-07"),
        ("2024年端午买了什么", "2024-06-10", "2024-06-11"),
        ("春节前买的", "None", "2026-02-17"),
        ("春节以来花了多少", "2026-02-17", "None"),
        ("春节期间买的", "2026-02-17", "2026-02-24"),
        ("春节那天买的", "2026-02-17", "2026-02-18"),
        ("国庆当天买的", "2026-10-01", "2026-10-02"),
        ("除夕到元宵买的", "2026-02-16", "2026-03-04"),
        ("618买的", "2026-06-18", "2026-06-19"),
    ],
)
def test_a_feast_is_read_as_days(text: str, start: str, end: str) -> None:
    found, whole = find_time(text, [], TODAY)
    assert found is not None
    assert whole
    assert (str(found.period.start), str(found.period.end)) == (start, end)


@pytest.mark.parametrize("text", ["中秋期间", "春节前后", "2041年中秋", "2019年春节", "重阳到端午"])
def test_a_feast_of_no_certain_days_is_not_taken_for_another(text: str) -> None:
    assert not find_time(text, [], TODAY)[1]


def test_a_feast_of_the_moon_that_lies_ahead_is_on_its_own_days_of_the_next_year() -> None:
    found, _ = find_time("春节那天", [], TODAY)
    assert found is not None
    assert move_ahead(found.period, TODAY).start == date(2027, 2, 6)
    assert choose_nearest(found.period, date(2026, 12, 30)).start == date(2027, 2, 6)
    (said,) = read("中秋那天入住").find_dates(TODAY)
    assert said.get_coming_days(TODAY) == (date(2027, 9, 15), date(2027, 9, 15))
