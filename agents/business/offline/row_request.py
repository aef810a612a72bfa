"""A question about rows of a declared subject: what is asked, of which rows, and whether all of it was understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.business.offline.residue import Odd
from agents.business.offline.subjects import Subject
from agents.business.types import Give


@dataclass(frozen=True, slots=True)
class Wanted:
    """`number` rows from the place `skip` on, of those that are ranked."""

    give: Give
    number: int = 1
    skip: int = 0


@dataclass(frozen=True, slots=True)
class RowRequest:
    """A question about the rows of a subject.

    `tests`: SQL of the rows; `named`: it says which rows, by more than a thing; `by_name`: by the name of a row of its
    own; `money`: the column for amounts, sums and ranks; `certain`: every word was understood; `unread`: words that
    were not and may change which rows are right; `known`: nothing else is in doubt; `said`: the customer's words for a
    reply; `rules`: the message asks for rules too.
    """

    subject: Subject
    wanted: Wanted
    tests: tuple[str, ...]
    named: bool
    by_name: bool
    money: str
    certain: bool
    known: bool
    unread: tuple[Odd, ...]
    said: Mapping[str, str]
    rules: bool = False
