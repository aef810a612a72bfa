"""A question as the declared subjects understand it: what is asked, of which rows, and whether all of it was heard."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agents.business.offline.amounts import Comparison
from agents.business.offline.subjects import Moment, Subject
from agents.understanding.stretches import Period


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
class Wanted:
    """`top` rows from the place `skip` on, of those that are ranked: 倒数第二单 is one row, one is skipped.
    `count`: SQL of what is counted.
    """

    give: Give
    top: int = 1
    skip: int = 0
    count: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows a question names.

    `moment`: the time that the period is about, where it is not the usual one; `terms`: what to search for, things that
    have all terms of one group, or things that have not where `without`; `states`: SQL, refused ones negated.
    """

    numbers: tuple[str, ...] = ()
    tail: str = ""
    period: Period | None = None
    moment: Moment | None = None
    amounts: tuple[Comparison, ...] = ()
    terms: tuple[tuple[str, ...], ...] = ()
    without: bool = False
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """`money`: the column that amounts, sums and the dearest go by; `certain`: every word was heard; `guessed`: words
    that may change which rows are right were not; `unread`: these words, where all else was understood; `said`: the
    customer's words for a reply; `rules`: the message asks for rules besides.
    """

    subject: Subject
    wanted: Wanted
    rows: Rows
    money: str
    certain: bool
    guessed: bool
    said: dict[str, str]
    unread: tuple[str, ...] = ()
    rules: bool = False
