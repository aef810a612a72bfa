"""A question as a declared subject understands it: what is asked, of which rows, and whether all of it was heard."""

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
    """`tests`: SQL of the rows; `named`: it says which these are, by more than a thing; `by_name`: by the name of a
    row of its own; `money`: the column that amounts, sums and the dearest go by; `certain`:
    every word was heard; `unread`: those that were not and may change which rows are right; `known`: nothing else is
    in doubt; `said`: the customer's words for a reply; `rules`: the message asks for rules besides.
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
