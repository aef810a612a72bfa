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
    """A question about the rows of a subject."""

    subject: Subject
    wanted: Wanted
    # SQL of the rows.
    tests: tuple[str, ...]
    # It says which rows, by more than a thing.
    named: bool
    # By the name of a row of its own.
    by_name: bool
    # The column for amounts, sums and ranks.
    money: str
    # Every word was understood.
    certain: bool
    # Nothing else is in doubt.
    known: bool
    # Words that were not and may change which rows are right.
    unread: tuple[Odd, ...]
    # The customer's words for a reply.
    reply_words: Mapping[str, str]
    # The message asks for rules too.
    rules: bool = False
