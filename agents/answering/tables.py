"""Chooses the rows of a table that a question is about, and the columns that answer it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from agents.answering.asked_terms import AskedTerms
from agents.passages.rows import Cell, TableRow, is_parallel
from agents.understanding.answer_type import AnswerType, has_answer_type
from knowledge.codes import find_codes, has_one_code, replace_codes
from knowledge.text import fold

# A row that covers this share of the question beyond what all rows do is the one asked for: E03 怎么办. Else the
# question is about the table: 退款多久到账.
TELLING_SHARE = 0.15
# Enough where no other row covers half as much.
ALONE_SHARE = 0.04
# A row that tells this share of what the most telling one does is asked for too.
NEAR_SHARE = 0.8
MAX_NAME_CHARS = 20
TermFinder = Callable[[str], frozenset[str]]
_BRACKETS = re.compile(r"\([^)]*\)")
_BETWEEN = re.compile(r"[、/,;]+")
_WORD = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]")


def find_asked_rows(rows: Sequence[TableRow], find_terms: TermFinder, wanted: AskedTerms) -> list[bool] | None:
    """Returns for every row of a table whether it is asked for; None where nothing distinguishes the rows.

    A value that stands in the question word for word counts most, and the more the fewer rows have it.

    find_terms: returns the question's terms that a text contains.
    """
    if len(rows) < 2:
        return None
    names = [frozenset(name for cell in row.cells for name in _list_names(cell.value)) for row in rows]
    named_keys = _find_said_names(frozenset[str]().union(*names), wanted.question, wanted)
    named = [own & named_keys for own in names]
    often = Counter(name for own in named for name in own)
    hits = [sum(1 / often[name] for name in sorted(own)) for own in named]
    best = [index for index, hit in enumerate(hits) if hit and hit == max(hits)]
    if not best or len(best) == len(rows):
        return _find_telling_rows(rows, find_terms, wanted)
    # Rows with the same names in them are told apart by their other words.
    alike = len(best) > 1 and len({named[index] for index in best}) == 1
    closer = _find_telling_rows([rows[index] for index in best], find_terms, wanted) if alike else None
    kept = {index for index, ok in zip(best, closer or [True] * len(best), strict=True) if ok}
    return [index in kept for index in range(len(rows))]


def _find_telling_rows(rows: Sequence[TableRow], find_terms: TermFinder, wanted: AskedTerms) -> list[bool] | None:
    """Chooses rows by words: a single character, such as the 退 of 退回, stands in many rows by chance."""
    terms = [frozenset(term for term in find_terms(row.text) if len(term) > 1 or term.isascii()) for row in rows]
    shared = frozenset.intersection(*terms)
    telling = [wanted.compute_share(own - shared) for own in terms]
    most, next_most = sorted(telling, reverse=True)[:2]
    tells = most >= TELLING_SHARE or (most >= ALONE_SHARE and next_most <= most / 2)
    return [share >= NEAR_SHARE * most for share in telling] if tells else None


def _list_names(value: str) -> list[str]:
    """Returns what a cell names, folded, without brackets; codes in their one form."""
    plain = _BRACKETS.sub("", fold(value))
    parts = [part for part in _BETWEEN.split(replace_codes(plain, " ")) if part.strip()]
    names = [*parts, *(word for part in parts for word in part.split())]
    named = [name for name in map(_remove_spaces, names) if 1 < len(name) <= MAX_NAME_CHARS]
    return [*(code.form for code in find_codes(plain)), *named]


def _remove_spaces(text: str) -> str:
    """Removes blanks: B 座 and B座 are one."""
    return "".join(text.split())


def _find_said_names(names: Iterable[str], question: str, wanted: AskedTerms) -> frozenset[str]:
    """Returns the names that a question holds: of two, one within the other, the longer; a model in any spelling and
    without its maker.
    """
    found = {name for name in names if has_one_code(find_codes(name), wanted.models)}
    rest = _remove_spaces(replace_codes(question, " "))
    for name in sorted(names, key=lambda name: (-len(name), name)):
        if name in rest:
            found.add(name)
            rest = rest.replace(name, " ")
    return frozenset(found)


def find_asked_columns(rows: Sequence[TableRow], wanted: AskedTerms) -> frozenset[str]:
    """Returns the heads of the columns to show.

    Of parallel columns only the one that the question names, or else the last earlier question that names one: who
    bought the standard plan still has it. Of several rows, what the question asks for with the columns before it.
    """
    names = list(dict.fromkeys(name for row in rows for name in row.names))
    heads = {name: _remove_spaces(fold(name)) for name in names[1:]}
    telling = [head for name, head in heads.items() if len(name) > 1]
    candidates = (_find_said_names(telling, question, wanted) for question in (wanted.question, *wanted.before))
    asked_heads = next(filter(None, candidates), frozenset())
    named = {name for name, head in heads.items() if head in asked_heads}
    beside = {
        name
        for name in names[1:]
        for own in named
        if name not in named and is_parallel(name, own) and not _is_hinted(name, own, wanted)
    }
    kept = [name for name in names if name not in beside]
    return frozenset(_find_measured_columns(rows, kept, wanted) if len(rows) > 1 and not named else kept)


def _is_hinted(name: str, named: str, wanted: AskedTerms) -> bool:
    """Whether the question tells a column from the one it names: Pro, of YS-H30 and its Pro."""
    own = set(_WORD.findall(fold(named)))
    return any(word in wanted.question for word in _WORD.findall(fold(name)) if word not in own)


def _find_measured_columns(rows: Sequence[TableRow], names: Sequence[str], wanted: AskedTerms) -> list[str]:
    """Returns the columns that mostly hold an amount or time asked for, after the ones before them; else all."""
    found = [
        name
        for name in names[1:]
        if any(
            _is_mostly(kind, [cell for row in rows for cell in row.cells if cell.name == name])
            for kind in wanted.measured_types
        )
    ]
    return [*names[: names.index(found[0])], *found] if found else list(names)


def _is_mostly(kind: AnswerType, cells: Sequence[Cell]) -> bool:
    return 2 * sum(has_answer_type(kind, f"{cell.name}：{cell.value}") for cell in cells) > len(cells)
