"""Writes tests of one column as SQL."""

from __future__ import annotations

from collections.abc import Iterable

from agents.business.offline.vocabulary import quote_literal
from agents.understanding.periods import Period
from knowledge.codes import is_code, list_spellings


def build_number_test(column: str, number: str) -> str:
    """Tests a number as it is written, or with other signs in it; one that begins with % by its end."""
    if number.startswith("%"):
        return f"{column} LIKE {quote_literal(number)}"
    written = list_spellings(number)
    if len(written) < 2:
        return f"{column} = {quote_literal(number)}"
    return join_with_or(f"{column} = {quote_literal(way)}" for way in written)


def build_like_test(column: str, terms: Iterable[str]) -> str:
    """Tests that a column holds all terms, a code among them in any spelling."""
    return " AND ".join(_build_term_test(column, term) for term in terms)


def _build_term_test(column: str, term: str) -> str:
    ways = [way for way in list_spellings(term) if "_" not in way] if is_code(term) else [term]  # any sign, to LIKE
    tests = [f"LOWER({column}) LIKE {quote_literal(f'%{way}%')}" for way in ways]
    return tests[0] if len(tests) == 1 else f"({join_with_or(tests)})"


def build_period_test(period: Period, column: str) -> str:
    bounds = [(">=", period.start), ("<", period.end)]
    return " AND ".join(f"{column} {sign} {quote_literal(day.isoformat())}" for sign, day in bounds if day)


def join_with_or(tests: Iterable[str]) -> str:
    return " OR ".join(f"({test})" for test in tests)
