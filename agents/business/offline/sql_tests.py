"""Tests of one column as SQL."""

from __future__ import annotations

from collections.abc import Iterable

from agents.business.offline.vocabulary import literal
from agents.understanding.stretches import Period


def is_number(column: str, number: str) -> str:
    return f"{column} {'LIKE' if number.startswith('%') else '='} {literal(number)}"


def like(column: str, terms: Iterable[str]) -> str:
    return " AND ".join(f"LOWER({column}) LIKE {literal(f'%{term}%')}" for term in terms)


def within(period: Period, column: str) -> str:
    bounds = [(">=", period.start), ("<", period.end)]
    return " AND ".join(f"{column} {sign} {literal(day.isoformat())}" for sign, day in bounds if day)


def any_of(tests: Iterable[str]) -> str:
    return " OR ".join(f"({test})" for test in tests)
