"""Which rows a question is about by the states and goods that it names, or excludes: 没取消的, 除了耳机."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.business.offline.language import Language
from agents.business.offline.subjects import State, literal

_ONE_VALUE = re.compile(r"(?P<column>[\w.]+) = (?P<value>'[^']*')")


@dataclass(frozen=True, slots=True)
class Named:
    """A state in a text; `refused`: its rows are not wanted; `heard`: all that says so."""

    state: State
    start: int
    end: int
    refused: bool
    heard: str
    where: str


def named_states(text: str, states: Sequence[State], language: Language) -> list[Named]:
    """The states that a text names to narrow the rows; of two that overlap, the one declared first."""
    found: list[Named] = []
    for state in states:
        for match in state.words.finditer(text):
            if match.group() and all(match.end() <= other.start or other.end <= match.start() for other in found):
                found.append(_named(text, state, match, language))
    return found


def _named(text: str, state: State, match: re.Match[str], language: Language) -> Named:
    before, after = language.refuses.search(text[: match.start()]), language.besides.match(text, match.end())
    heard = (before.group() if before else "") + match.group() + (after.group() if after else "")
    return Named(state, match.start(), match.end(), bool(before or after), heard, _where(state, match))


def _where(state: State, match: re.Match[str]) -> str:
    """Its SQL, with what the words have in a group: 抬头是某某的."""
    value = next((value for value in match.groups() if value), "")
    return state.where.replace("{}", literal(f"%{value}%")) if value else state.where


def exclusive(tests: Sequence[str]) -> bool:
    """Whether no row can meet all of the conditions, as two states were asked for apart: 花了多少，赚了多少."""
    values: dict[str, set[str]] = {}
    for test in tests:
        if match := _ONE_VALUE.fullmatch(test):
            values.setdefault(match["column"], set()).add(match["value"])
    return any(len(several) > 1 for several in values.values())


def conditions(text: str, found: Sequence[Named], language: Language) -> Iterator[str]:
    """SQL: all that is named; of states that stand side by side, 待付款和待发货的, any."""
    groups: list[list[Named]] = []
    for named in sorted(found, key=lambda named: named.start):
        last = groups[-1][-1] if groups else None
        if last and language.either.fullmatch(text, last.end, named.start):
            groups[-1].append(named)
        else:
            groups.append([named])
    for group in groups:
        wheres = list(dict.fromkeys(named.where for named in group))
        either = " OR ".join(f"({where})" for where in wheres) if len(wheres) > 1 else wheres[0]
        yield f"NOT ({either})" if group[0].refused else either
