"""Finds documents that answer the same with other values: both are told, each with its date; repetitions are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.answering.events import find_nouns
from agents.answering.scoring import ScoredUnit
from agents.passages.units import Unit
from agents.verification.conditions import Assertion, extract_assertions
from agents.verification.evidence import Statement
from agents.verification.polarity import is_contradiction
from agents.verification.quantities import Quantity, is_same_kind
from knowledge.codes import find_codes, has_one_code
from knowledge.text import fold
from knowledge.types import Chunk
from knowledge.versions import get_series

# Of the words of the shorter of two clauses, so many stand in the other one: they speak of the same.
SHARED = 0.5
# Of the words of either no more than so many are said by it alone: of two with amounts, and of a yes and a no.
UNKNOWN, UNKNOWN_OF_NEGATED = 0.7, 0.34
# What says less may be about anything.
MIN_PAIRS = 3
# A group of another document that is worth this share of the best one may say otherwise.
NEARLY = 0.5
# A group whose words stand to this share in what is quoted already adds nothing but its amounts and times.
REPEATED = 0.7

# Units in which it is told how long something takes.
_LASTING = frozenset({"second", "workday", "months"})
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")


def find_rivals(best: ScoredUnit, others: Iterable[ScoredUnit], question: str) -> list[ScoredUnit]:
    """Returns the best group of each other document that answers the question with another value than the best group
    does.

    others: best first. A group about another product or version is no rival: versions are chosen between before.
    """
    statement, rivals, seen = Statement(fold(question)), list[ScoredUnit](), {best.unit.passage.chunk.document.id}
    for other in others:
        if other.score < NEARLY * best.score:
            break
        one, another = best.unit.passage.chunk, other.unit.passage.chunk
        if another.document.id in seen or not _can_differ(one, another):
            continue
        if _is_named(one, another, statement) or _is_named(another, one, statement):
            continue
        if _has_disagreement(best.unit, other.unit, statement):
            rivals.append(other)
            seen.add(another.document.id)
    return rivals


def is_repeated(candidate: ScoredUnit, chosen: Sequence[ScoredUnit]) -> bool:
    """Whether a group says nothing new: neither words, nor an amount, time or number."""
    own = Statement(fold(candidate.unit.text))
    earlier = Statement(fold("\n".join(item.unit.text for item in chosen)))
    shared = len(own.pairs & earlier.pairs) >= REPEATED * len(own.pairs)
    return (
        shared and own.numbers.stated <= earlier.numbers.known and not is_contradiction(own.polarity, earlier.polarity)
    )


def _can_differ(one: Chunk, other: Chunk) -> bool:
    """Whether two passages are of documents about the same, and neither is the page in view."""
    first, second = one.document, other.document
    if one.is_in_view or other.is_in_view or first.product != second.product:
        return False
    if get_series(first) == get_series(second) and first.product_version != second.product_version:
        return False
    codes = find_codes(one.above), find_codes(other.above)
    return not all(codes) or has_one_code(codes[0], codes[1])


def _is_named(one: Chunk, other: Chunk, question: Statement) -> bool:
    """Whether the question names what one passage is about and the other one is not: 游泳馆 beside 健身房. Similar
    names, 会所游泳馆 and 会所健身房, are told apart by the names alone.
    """
    own, others = Statement(fold(one.context)), Statement(fold(other.context))
    rest = others if own.pairs & others.pairs else Statement(fold(f"{other.context}\n{other.text}"))
    return bool((own.pairs - rest.pairs) & question.pairs)


def _has_disagreement(one: Unit, other: Unit, question: Statement) -> bool:
    return any(
        is_opposed(first, second, question)
        for first in _list_asked_clauses(one, question)
        for second in _list_asked_clauses(other, question)
    )


def _list_asked_clauses(unit: Unit, question: Statement) -> list[Clause]:
    """Returns the quoted clauses that share words with the question."""
    text = fold(unit.text)
    quoted = [
        each
        for each in extract_assertions(unit.passage.chunk)
        if each.value.text in text and ";" not in each.statement.text
    ]
    return [clause for each in quoted for clause in split_clauses(each) if clause.statement.pairs & question.pairs]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause with the key that it holds for, and the column of a cell. outer: what stands above it."""

    statement: Statement
    key: Statement
    outer: Statement


def split_clauses(assertion: Assertion) -> list[Clause]:
    """Divides a sentence at its commas; a cell of a table is one clause."""
    key = Statement(f"{assertion.key} {assertion.column}".strip())
    if assertion.column:
        return [Clause(assertion.statement, key, assertion.outer)]
    begin = f"{assertion.key}:" if assertion.key else ""
    texts = [f"{begin}{clause}" for clause in _COMMA.split(assertion.value.text) if clause]
    return [Clause(Statement(text), key, assertion.outer) for text in texts]


def is_opposed(one: Clause, other: Clause, question: Statement) -> bool:
    """Whether two clauses say of the same, under the same conditions, another amount or time, or yes and no."""
    numbers = one.statement.numbers.stated, other.statement.numbers.stated
    kinds = [(a, b) for a in numbers[0] for b in numbers[1] if _is_comparable(a, b)]
    if kinds:
        return all(a != b for a, b in kinds) and _is_alike(one, other, question, UNKNOWN)
    if any(numbers) or not is_contradiction(one.statement.polarity, other.statement.polarity):
        return False
    return _is_alike(one, other, question, UNKNOWN_OF_NEGATED)


def _is_comparable(one: Quantity, other: Quantity) -> bool:
    return is_same_kind(one, other) or {one[1], other[1]} <= _LASTING


def _is_alike(one: Clause, other: Clause, question: Statement, unknown: float) -> bool:
    """Whether two clauses say much the same of the same thing. unknown: share of a clause that only it may say."""
    fewer = min(len(one.statement.pairs), len(other.statement.pairs))
    if fewer < MIN_PAIRS or len(one.statement.pairs & other.statement.pairs) < SHARED * fewer:
        return False
    if one.statement.latin - question.latin != other.statement.latin - question.latin:
        return False
    if any(not _is_known(*pair, question, unknown) for pair in ((one, other), (other, one))):
        return False
    own, others = _find_new_things(one, other, question), _find_new_things(other, one, question)
    begins = any(
        clause.statement.text.startswith(thing) for clause, things in ((one, own), (other, others)) for thing in things
    )
    return not begins and not (own and others)


def _is_known(one: Clause, other: Clause, question: Statement, unknown: float) -> bool:
    """Whether a clause is mostly in the other one or in the question: its key wholly, what is asked of it by half."""
    known, named = other.statement.pairs | question.pairs, one.statement.pairs & question.pairs
    if not one.key.pairs <= known or 2 * len(named - other.statement.pairs - other.outer.pairs) > len(named):
        return False
    return len(one.statement.pairs - known) <= unknown * len(one.statement.pairs)


def _find_new_things(one: Clause, other: Clause, question: Statement) -> list[str]:
    """Returns things that a clause names, and neither the other one nor the question: 生鲜, 金卡."""
    known = f"{other.statement.text}\n{other.outer.text}\n{question.text}"
    return [word for word in find_nouns(one.statement.numbers.rest) if word not in known]
