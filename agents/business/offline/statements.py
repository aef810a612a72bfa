"""A reading of a question as one SELECT, in words that SQLite and PostgreSQL share."""

from __future__ import annotations

from agents.business.offline.reading import Give, Reading
from agents.business.offline.subjects import literal

NEAR = 0.1
"""左右 is this far off at most."""


def statement(reading: Reading) -> str:
    """The SQL of a reading; what the guard refuses of it is a fault of the description."""
    subject = reading.subject
    conditions = _conditions(reading)
    where = _where(conditions)
    match reading.give:
        case Give.COUNT:
            where = _where([*conditions, reading.state.where if reading.state else ""])
            return f"SELECT {subject.count} AS count FROM {subject.source}{where}"
        case Give.SUM:
            where = _where([*conditions, subject.sum_where])
            return f"SELECT SUM({subject.sum}) AS sum, COUNT(*) AS count FROM {subject.source}{where}"
        case Give.MOST | Give.LEAST:
            best = (
                f"SELECT {'MAX' if reading.give is Give.MOST else 'MIN'}({subject.money}) FROM {subject.source}{where}"
            )
            conditions = [*conditions, f"{subject.money} = ({best})"]
        case Give.LATEST | Give.EARLIEST:
            direction = "DESC" if reading.give is Give.LATEST else "ASC"
            conditions = [*conditions, _first(reading, conditions, direction, reading.top)]
        case Give.LIST if _meant(reading):
            conditions = [*conditions, _preferred(reading, conditions)]
    return _listing(reading, conditions)


def _listing(reading: Reading, conditions: list[str]) -> str:
    subject = reading.subject
    if subject.limit and reading.give is Give.LIST and not (reading.numbers or reading.tail):
        conditions = [*conditions, _first(reading, conditions, "DESC", subject.limit)]
    text = f"SELECT {', '.join(subject.show)} FROM {subject.source} {subject.joins}".rstrip() + _where(conditions)
    if subject.group:
        text += f" GROUP BY {subject.group}"
    return text + (f" ORDER BY {subject.order}" if subject.order else "")


def _conditions(reading: Reading) -> list[str]:
    subject = reading.subject
    conditions = [subject.where]
    if reading.numbers:
        conditions.append(_any([test.replace("{}", literal(n)) for n in reading.numbers for test in subject.numbers]))
    if reading.tail:
        ending = literal("%" + reading.tail.upper())
        conditions.append(_any([test.replace("= {}", f"LIKE {ending}") for test in subject.numbers]))
    if reading.state is not None and not subject.prefer:
        conditions.append(reading.state.where)
    if reading.period is not None:
        start, end = reading.period.start, reading.period.end
        conditions += [f"{subject.time} >= {literal(start.isoformat())}"] if start else []
        conditions += [f"{subject.time} < {literal(end.isoformat())}"] if end else []
    if reading.terms:
        conditions.append(_any([subject.search.replace("{}", _pattern(term)) for term in reading.terms]))
    if reading.amount:
        conditions.append(_compared(subject.money, reading.amount))
    return [condition for condition in conditions if condition]


def _meant(reading: Reading) -> str:
    """Which rows are meant where none are named."""
    if not reading.subject.prefer or reading.numbers or reading.tail:
        return ""
    return reading.state.where if reading.state is not None else reading.subject.prefer


def _preferred(reading: Reading, conditions: list[str]) -> str:
    """The rows that are meant; where there are none of them, the newest."""
    subject, meant = reading.subject, _meant(reading)
    keys = f"SELECT {subject.key} FROM {subject.source}{_where([*conditions, meant])}"
    return f"({meant}) OR (NOT EXISTS ({keys}) AND {_first(reading, conditions, 'DESC', 1)})"


def _first(reading: Reading, conditions: list[str], direction: str, number: int) -> str:
    """Those of the first so many moments: what happened at once, as the items of an order, stays together."""
    subject = reading.subject
    moments = f"SELECT DISTINCT {subject.time} FROM {subject.source}{_where(conditions)}"
    return f"{subject.time} IN ({moments} ORDER BY {subject.time} {direction} LIMIT {number})"


def _compared(column: str, comparison: str) -> str:
    """`column` against >=200, <300, 100..300, ~200 or 200."""
    if ".." in comparison:
        low, high = sorted(comparison.split("..")[:2], key=float)
        return f"{column} BETWEEN {low} AND {high}"
    if comparison.startswith("~"):
        middle = float(comparison[1:])
        return f"{column} BETWEEN {middle * (1 - NEAR):g} AND {middle * (1 + NEAR):g}"
    sign = comparison.rstrip("0123456789.")
    return f"{column} {sign or '='} {comparison[len(sign) :]}"


def _pattern(term: str) -> str:
    """A LIKE pattern that finds a folded term; its own wildcards mean nothing."""
    return literal(f"%{term.replace('%', '').replace('_', '')}%")


def _any(conditions: list[str]) -> str:
    return " OR ".join(f"({condition})" for condition in conditions)


def _where(conditions: list[str]) -> str:
    given = [f"({condition})" for condition in conditions if condition]
    return f" WHERE {' AND '.join(given)}" if given else ""
