"""The vocabulary of the business agent: a question becomes a plan, a plan rows, rows a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

PLAN_DIALECT = "sqlite"
"""What plans are written in, as sqlglot calls it; the guard writes them anew for the database."""
Value = str | int | float | None
"""Dates are ISO text and amounts are floats, whatever the database."""


class Give(StrEnum):
    """What of the rows is wanted."""

    LIST = "list"
    COUNT = "count"
    SUM = "sum"
    AVERAGE = "average"
    MOST = "most"
    LEAST = "least"
    LATEST = "latest"
    EARLIEST = "earliest"


NUMBERS = frozenset({Give.COUNT, Give.SUM, Give.AVERAGE})
"""What is told without the rows themselves."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What the offline layer makes of a question.

    `sql`: one SELECT over the schema's tables in PLAN_DIALECT, without the caller: the guard adds it. `subject` names
    the question of the YAML. `certain`: nothing of the question is left out, so that no language model needs to be
    asked. `words`: what the reply may say again, for example period: 上个月. `also`: of the other
    questions of the message.
    """

    sql: str
    subject: str
    certain: bool = False
    words: Mapping[str, str] = field(default_factory=dict)
    also: tuple[Plan, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """An output column, `name` as the statement calls it.

    `table` and `column` are where its values come from, empty when they come from several columns or none (count(*));
    `function` is the lower-case aggregate around it (sum, count, max ...), empty for a plain column; both are empty
    for any other expression. `stated`: the statement itself may have written the value, so that it is no fact.
    """

    name: str
    table: str = ""
    column: str = ""
    function: str = ""
    stated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database gave, all of it the caller's own or everybody's, values masked already.

    `tables` are all that were read; `more`: there are rows beyond the ones here.
    """

    fields: tuple[Field, ...]
    values: tuple[tuple[Value, ...], ...]
    tables: tuple[str, ...]
    more: bool = False


class OfflineQueries(Protocol):
    """Common questions without a language model: `agents/business/offline/queries.py::load_queries(path, schema)`."""

    def plan(self, text: str, today: date) -> Plan | None:
        """None for what is no question about one's own data, or not one that is known. `text` stands alone."""


class Replies(Protocol):
    """Rows as a text that cites `[SQL]`: `agents/business/replies.py::load_replies(path, schema)`."""

    def write(self, rows: Rows, plan: Plan | None, today: date) -> str:
        """One row, a list or none of them (没有查到…); plan: None for a statement that a language model wrote."""
