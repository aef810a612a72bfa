"""Writes a row request as one SELECT, in words that SQLite and PostgreSQL share."""

from __future__ import annotations

from agents.business.offline.row_request import RowRequest
from agents.business.types import Give


def build_statement(reading: RowRequest) -> str:
    """Returns the SQL of a request; what the guard refuses of it is a fault of the description."""
    subject, wanted = reading.subject, reading.wanted
    tests = [subject.where, _choose_usual(subject.usual, reading), *reading.tests]
    match wanted.give:
        case Give.COUNT:
            return f"SELECT {subject.count} AS count FROM {subject.source}{_build_where(tests)}"
        case Give.SUM | Give.AVERAGE:
            function, name = ("SUM", "sum") if wanted.give is Give.SUM else ("AVG", "average")
            where = _build_where([*tests, _choose_usual(subject.sum_where, reading)])
            counted = f"{function}({reading.money}) AS {name}, {subject.count} AS count"
            return f"SELECT {counted} FROM {subject.source}{where}"
        case Give.MOST | Give.LEAST:
            tests = [*tests, _build_ranking_test(reading, tests)]
        case Give.LATEST | Give.EARLIEST:
            direction = "DESC" if wanted.give is Give.LATEST else "ASC"
            tests = [*tests, _build_moment_test(reading, tests, direction, wanted.number, wanted.skip)]
        case Give.LIST if subject.prefer and not reading.named:
            tests = [*tests, _build_preferred_test(reading, tests)]
    return _build_listing(reading, tests)


def _build_listing(reading: RowRequest, tests: list[str]) -> str:
    subject = reading.subject
    if subject.limit and reading.wanted.give is Give.LIST and not reading.named:
        tests = [*tests, _build_moment_test(reading, tests, "DESC", subject.limit)]
    text = f"SELECT {', '.join(subject.show)} FROM {subject.source} {subject.joins}".rstrip() + _build_where(tests)
    if subject.group:
        return f"{text} GROUP BY {subject.group} ORDER BY {subject.group}"
    order = [*([f"{subject.time}{'' if subject.ahead else ' DESC'}"] if subject.time else []), subject.key]
    return f"{text} ORDER BY {', '.join(order)}"


def _choose_usual(condition: str, reading: RowRequest) -> str:
    """Returns the usual condition, unless the question names other states by the same columns, or the row by its number
    or name.
    """
    named = {word for test in reading.tests for word in _find_columns(test)}
    return "" if reading.by_name or named.intersection(_find_columns(condition)) else condition


def _find_columns(test: str) -> set[str]:
    return {
        word.strip("()") for word in test.split() if "." in word and word.strip("()").replace(".", "_").isidentifier()
    }


def _build_preferred_test(reading: RowRequest, tests: list[str]) -> str:
    """Selects the preferred rows; where there are none of them, the newest."""
    subject = reading.subject
    if not subject.time:
        return subject.prefer
    none = f"HAVING COUNT(CASE WHEN {subject.prefer} THEN 1 END) = 0"
    newest = f"SELECT MAX({subject.time}) FROM {subject.source}{_build_where(tests)} {none}"
    return f"({subject.prefer}) OR {subject.time} = ({newest})"


def _build_ranking_test(reading: RowRequest, tests: list[str]) -> str:
    """Selects the one place of a ranking by money with all rows that share it, or the rows of several places."""
    subject, wanted = reading.subject, reading.wanted
    direction = "DESC" if wanted.give is Give.MOST else "ASC"
    many = wanted.number > 1
    chosen = subject.key if many else reading.money
    rows = f"SELECT {'' if many else 'DISTINCT '}{chosen} FROM {subject.source}{_build_where(tests)}"
    return f"{chosen} IN ({rows} ORDER BY {reading.money} {direction}{_build_window(wanted.number, wanted.skip)})"


def _build_moment_test(reading: RowRequest, tests: list[str], direction: str, number: int, skip: int = 0) -> str:
    """Selects the rows of the first so many moments: what happened at once, as the items of an order, stays
    together.
    """
    time, source = reading.subject.time, reading.subject.source
    moments = f"SELECT DISTINCT {time} FROM {source}{_build_where(tests)}"
    return f"{time} IN ({moments} ORDER BY {time} {direction}{_build_window(number, skip)})"


def _build_window(number: int, skip: int) -> str:
    return f" LIMIT {number}" + (f" OFFSET {skip}" if skip else "")


def _build_where(tests: list[str]) -> str:
    given = [f"({test})" for test in tests if test]
    return f" WHERE {' AND '.join(given)}" if given else ""
