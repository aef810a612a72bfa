"""A reading of a question as one SELECT, in words that SQLite and PostgreSQL share."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.business.offline.reading import Give, Reading
from agents.business.offline.subjects import Moment, literal
from agents.understanding.stretches import Period

_LIKE = re.compile(r"((?:LOWER\()?[\w.]+\)?) LIKE \{\}")
_COLUMN = re.compile(r"\b[a-z_]\w*\.[a-z_]\w*")


def statement(reading: Reading) -> str:
    """The SQL of a reading; what the guard refuses of it is a fault of the description."""
    subject, wanted = reading.subject, reading.wanted
    conditions = _conditions(reading)
    match wanted.give:
        case Give.COUNT:
            return f"SELECT {wanted.count} AS count FROM {subject.source}{_where(conditions)}"
        case Give.SUM | Give.AVERAGE:
            function, name = ("SUM", "sum") if wanted.give is Give.SUM else ("AVG", "average")
            where = _where([*conditions, _usual(subject.sum_where, reading)])
            amount = reading.money or subject.sum
            count = wanted.count or "COUNT(*)"
            return f"SELECT {function}({amount}) AS {name}, {count} AS count FROM {subject.source}{where}"
        case Give.MOST | Give.LEAST:
            conditions = [*conditions, _dearest(reading, conditions)]
        case Give.LATEST | Give.EARLIEST:
            direction = "DESC" if wanted.give is Give.LATEST else "ASC"
            conditions = [*conditions, _first(reading, conditions, direction, wanted.top, wanted.skip)]
        case Give.LIST if _prefers(reading):
            conditions = [*conditions, _preferred(reading, conditions)]
    return _listing(reading, conditions)


def _listing(reading: Reading, conditions: list[str]) -> str:
    subject = reading.subject
    if subject.limit and reading.wanted.give is Give.LIST and not _named(reading):
        conditions = [*conditions, _first(reading, conditions, "DESC", subject.limit)]
    text = f"SELECT {', '.join(subject.show)} FROM {subject.source} {subject.joins}".rstrip() + _where(conditions)
    if subject.group:
        text += f" GROUP BY {subject.group}"
    return text + (f" ORDER BY {subject.order}" if subject.order else "")


def _named(reading: Reading) -> bool:
    """Whether the question says which rows it means."""
    rows = reading.rows
    return bool(rows.numbers or rows.tail or rows.period or rows.amounts or rows.states)


def _conditions(reading: Reading) -> list[str]:
    subject, rows = reading.subject, reading.rows
    conditions = [subject.where, _usual(subject.usual, reading), *rows.states]
    if rows.numbers:
        conditions.append(_any([test.replace("{}", literal(n)) for n in rows.numbers for test in subject.numbers]))
    if rows.tail:
        ending = literal("%" + rows.tail.upper())
        conditions.append(_any([test.replace("= {}", f"LIKE {ending}") for test in subject.numbers]))
    if rows.period is not None:
        conditions.append(_within(rows.period, rows.moment, subject.time))
    if rows.terms:
        found = _LIKE.sub(lambda match: _alike(match.group(1), rows.terms), subject.search)
        conditions.append(f"NOT ({found})" if rows.without else found)
    conditions += [comparison.of(reading.money) for comparison in rows.amounts]
    return [condition for condition in conditions if condition]


def _within(period: Period, moment: Moment | None, time: str) -> str:
    column = moment.column if moment else time
    bounds = [(">=", period.start), ("<", period.end)]
    compared = " AND ".join(f"{column} {sign} {literal(day.isoformat())}" for sign, day in bounds if day)
    return moment.where.replace("{}", compared) if moment else compared


def _usual(condition: str, reading: Reading) -> str:
    """What holds unless the question names other states by the same column."""
    columns = {column for state in reading.rows.states for column in _COLUMN.findall(state)}
    return "" if columns.intersection(_COLUMN.findall(condition)) else condition


def _prefers(reading: Reading) -> bool:
    return bool(reading.subject.prefer) and not _named(reading)


def _preferred(reading: Reading, conditions: list[str]) -> str:
    """The rows that are meant where none are named; where there are none of them, the newest."""
    subject = reading.subject
    none = f"HAVING COUNT(CASE WHEN {subject.prefer} THEN 1 END) = 0"
    newest = f"SELECT MAX({subject.time}) FROM {subject.source}{_where(conditions)} {none}"
    return f"({subject.prefer}) OR {subject.time} = ({newest})"


def _dearest(reading: Reading, conditions: list[str]) -> str:
    """The one place of a ranking by money with all that share it, or the rows of several places."""
    subject, wanted = reading.subject, reading.wanted
    direction = "DESC" if wanted.give is Give.MOST else "ASC"
    many = wanted.top > 1
    chosen = subject.key if many else reading.money
    rows = f"SELECT {'' if many else 'DISTINCT '}{chosen} FROM {subject.source}{_where(conditions)}"
    return f"{chosen} IN ({rows} ORDER BY {reading.money} {direction}{_window(wanted.top, wanted.skip)})"


def _first(reading: Reading, conditions: list[str], direction: str, number: int, skip: int = 0) -> str:
    """Those of the first so many moments: what happened at once, as the items of an order, stays together."""
    subject = reading.subject
    moments = f"SELECT DISTINCT {subject.time} FROM {subject.source}{_where(conditions)}"
    return f"{subject.time} IN ({moments} ORDER BY {subject.time} {direction}{_window(number, skip)})"


def _window(number: int, skip: int) -> str:
    return f" LIMIT {number}" + (f" OFFSET {skip}" if skip else "")


def _alike(column: str, things: Sequence[tuple[str, ...]]) -> str:
    """Any of the things, each by all of its terms."""
    tests = [" AND ".join(f"{column} LIKE {_pattern(term)}" for term in terms) for terms in things]
    return f"({_any(tests)})"


def _pattern(term: str) -> str:
    """A LIKE pattern that finds a folded term; its own wildcards mean nothing."""
    return literal(f"%{term.replace('%', '').replace('_', '')}%")


def _any(conditions: list[str]) -> str:
    return " OR ".join(f"({condition})" for condition in conditions)


def _where(conditions: list[str]) -> str:
    given = [f"({condition})" for condition in conditions if condition]
    return f" WHERE {' AND '.join(given)}" if given else ""
