"""A question as the declared subjects understand it: what is asked, of which rows, and whether all of it was heard."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agents.business.offline.periods import Period
from agents.business.offline.subjects import State, Subject


class Give(StrEnum):
    """What of the rows is wanted."""

    LIST = "list"
    COUNT = "count"
    SUM = "sum"
    MOST = "most"
    LEAST = "least"
    LATEST = "latest"
    EARLIEST = "earliest"


@dataclass(frozen=True, slots=True)
class Reading:
    """`top`: rows wanted of LATEST; `terms`: what to search for; `said`: the customer's words for a reply; `rules`: the
    message asks for rules besides.
    """

    subject: Subject
    give: Give
    period: Period | None
    amount: str
    numbers: tuple[str, ...]
    tail: str
    terms: tuple[str, ...]
    state: State | None
    top: int
    certain: bool
    said: dict[str, str]
    rules: bool = False
