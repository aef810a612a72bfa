"""Finds words that are danger by themselves (smoke, a pretended employee), where a message states them.

They say nothing in a question about a product or a rule: 会不会鼓包, 烫伤险赔多少.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from knowledge.text import fold
from knowledge.yaml_files import load_shipped_yaml

_CLAUSE = re.compile(r"[^,，。;；!！\n]+")


class Danger(StrEnum):
    """The kind of danger: injury of a person or thing, loss of money or data to a deceiver, or suicide.

    The words of the last one are in `emotions.yaml`.
    """

    HARM = "harm"
    FRAUD = "fraud"
    SELF_HARM = "self_harm"


@dataclass(frozen=True, slots=True)
class _Cues:
    """Patterns of folded text."""

    dangers: Mapping[Danger, re.Pattern[str]]
    # Makes a clause a question about a rule, unless `happened` says that something came about.
    asking: re.Pattern[str]
    happened: re.Pattern[str]


@cache
def _load_cues() -> _Cues:
    cues = load_shipped_yaml("agents", "examples/safety.yaml")["cues"]
    return _Cues(
        {kind: re.compile(f"(?:{cues[kind]})(?!{cues['product']})") for kind in Danger if kind in cues},
        re.compile(cues["asking"]),
        re.compile(cues["happened"]),
    )


def split_statements(text: str) -> list[str]:
    """Returns the clauses, folded, that do not ask about a rule."""
    cues, clauses = _load_cues(), _CLAUSE.findall(fold(text))
    return [clause for clause in clauses if cues.happened.search(clause) or not cues.asking.search(clause)]


def find_dangers(clauses: Sequence[str]) -> frozenset[Danger]:
    """Returns the dangers that have a word in one of the clauses."""
    return frozenset(kind for kind, cue in _load_cues().dangers.items() if any(map(cue.search, clauses)))
