"""The vocabulary of the business agent: a question becomes a plan, a plan rows, rows a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol

# What plans are written in, as sqlglot calls it; the guard writes them anew for the database.
PLAN_DIALECT = "sqlite"
# Dates are ISO text and amounts are floats, whatever the database.
Value = str | int | float | None


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


# What is told without the rows themselves.
NUMBERS = frozenset({Give.COUNT, Give.SUM, Give.AVERAGE})


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of the offline layer for a question."""

    # One SELECT over the schema's tables in PLAN_DIALECT, without the caller, which the guard adds.
    sql: str
    # The question of the YAML.
    subject: str
    # Nothing of the question is left out, so that no language model needs to be asked.
    certain: bool = False
    # What the reply may repeat, for example period: 上个月.
    words: Mapping[str, str] = field(default_factory=dict)
    # Plans for the other questions of the message.
    also: tuple[Plan, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """An output column, `name` as the statement calls it."""

    name: str
    # table and column: where its values come from, empty when they come from several columns or none (count(*)).
    table: str = ""
    column: str = ""
    # The lower-case aggregate around it (sum, count, max ...), empty for a plain column; `column` and it are empty for
    # any other expression.
    function: str = ""
    # The statement itself may have written the value, so that it is no fact.
    stated: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that the database gave, all of them the caller's own or everybody's, values masked already."""

    fields: tuple[Field, ...]
    values: tuple[tuple[Value, ...], ...]
    # All that were read.
    tables: tuple[str, ...]
    # There are rows beyond these.
    more: bool = False


class OfflineQueries(Protocol):
    """Plans common questions without a language model: `agents/business/offline/queries.py::load_queries(path,
    schema)`.
    """

    def plan(self, text: str, today: date) -> Plan | None:
        """Returns a plan; None for a question that is not about own data, or is unknown. `text` is complete."""
