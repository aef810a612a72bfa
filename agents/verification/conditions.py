"""How a claim stands to what the passages say: which assertion is nearest, and what either leaves unsaid.

A passage is cut into assertions. A row of a table and 云澜苑：… of a list hold for their key alone, and words of the
nearest assertion that nobody said are conditions that a claim may have dropped. How much of which kind is too much is
for `ClaimHead`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from heapq import nlargest
from itertools import pairwise

from agents.passages.sentences import Sentence
from agents.passages.units import build_passage
from agents.verification.evidence import Statement
from agents.verification.polarity import is_contradiction
from agents.verification.quantities import Quantity, is_known
from knowledge.text import fold
from knowledge.types import Chunk

# Assertions that share most with a claim, which are looked at more closely: all of them would be 5 ms a claim.
LIKELY = 12
# Characters before a colon that say what the rest holds for.
MAX_KEY = 24

_SEGMENT = re.compile(r"[；;。！？!?]")
_KEYED = re.compile(rf"([^：:]{{1,{MAX_KEY}}})[：:](?!\d)(.+)", re.DOTALL)
_ALTERNATIVE = re.compile(r"[、/或和及（）()]")
_HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Assertion:
    """What a passage says at one place. key: what it holds for, empty for all that it is about; value: what it says of
    that; outer: headings and lead-in; group: assertions of one table or list have the same; column: of a table.
    """

    statement: Statement
    key: str
    value: Statement
    outer: Statement
    group: tuple[str, int]
    column: str = ""
    line: int = 0

    @cached_property
    def keys(self) -> tuple[Statement, ...]:
        """The alternatives of a key: any of 质量问题、发错货."""
        return tuple(Statement(part) for part in _ALTERNATIVE.split(self.key) if part.strip())


class ConditionCheck:
    """All assertions of the passages that a reply was written from, and how a claim stands to them."""

    def __init__(self, chunks: Iterable[Chunk], question: str) -> None:
        """question: what it says may be left out."""
        self._assertions = [assertion for chunk in chunks for assertion in extract_assertions(chunk)]
        self._frequency = Counter(pair for each in self._assertions for pair in each.statement.pairs)
        self._question = Statement(fold(question))

    @cached_property
    def _numbers(self) -> frozenset[Quantity]:
        return frozenset().union(*(each.statement.numbers.known for each in self._assertions))

    def compute_features(self, claim: Statement) -> dict[str, float]:
        """Computes shares in [0, 1] of the nearest assertion and the claim, and counts; empty where nothing is
        asserted.

        said, headed: of the claim, what the assertion says and what stands above it; unsaid: of the assertion, what
        neither claim nor question says, unsaid_after: behind all that they say; key_unsaid: of the key of one among
        several; subject_new: of the claim, what stands before anything that the assertion says. numbers_elsewhere,
        numbers_unknown: of the claim's numbers, those that the assertion does not say and those that none says;
        numbers_unsaid: how many of the assertion neither claim nor question says; names_new: how many codes and foreign
        words of the claim; contradicts; negations: by how many the two differ.
        """
        if not self._assertions:
            return {}
        sides = _ClaimWithQuestion(claim, self._question)
        likely = nlargest(
            LIKELY, self._assertions, key=lambda each: self._weigh_pairs(claim.pairs & each.statement.pairs)
        )
        nearest = max(likely, key=lambda each: self._score_nearness(sides, each))
        known = sides.pairs | nearest.outer.pairs
        ordered = nearest.statement.ordered_pairs
        last = max((index for index, pair in enumerate(ordered) if pair in claim.pairs), default=len(ordered))
        return {
            "said": self._compute_share(claim.pairs & nearest.statement.pairs, claim.pairs),
            "headed": self._compute_share((claim.pairs & nearest.outer.pairs) - nearest.statement.pairs, claim.pairs),
            "unsaid": self._compute_share(nearest.statement.pairs - known, nearest.statement.pairs),
            "unsaid_after": self._compute_share(frozenset(ordered[last + 1 :]) - known, nearest.statement.pairs),
            "key_unsaid": self._measure_unsaid_key(sides, nearest),
            "subject_new": self._compute_share(
                _find_subject_pairs(claim, nearest) - nearest.outer.pairs - self._question.pairs, claim.pairs
            ),
            **self._compute_facts(sides, nearest),
        }

    def _compute_facts(self, sides: _ClaimWithQuestion, nearest: Assertion) -> dict[str, float]:
        claim, known = sides.claim, sides.find_outer_numbers(nearest)
        numbers = claim.numbers.stated
        elsewhere = sum(not is_known(each, nearest.statement.numbers.known | known) for each in numbers)
        unknown = sum(not is_known(each, self._numbers | known) for each in numbers)
        opposed = is_contradiction(claim.polarity, nearest.statement.polarity)
        return {
            "numbers_elsewhere": elsewhere / max(len(numbers), 1),
            "numbers_unknown": unknown / max(len(numbers), 1),
            "numbers_unsaid": float(
                sum(not is_known(each, sides.numbers) for each in nearest.statement.numbers.stated)
            ),
            "names_new": float(len(claim.latin - nearest.statement.latin - nearest.outer.latin - self._question.latin)),
            "contradicts": float(opposed),
            "negations": float(abs(len(claim.polarity.negations) - len(nearest.statement.polarity.negations))),
        }

    def _score_nearness(self, sides: _ClaimWithQuestion, assertion: Assertion) -> float:
        claim = sides.claim
        stated = self._compute_share(claim.pairs & assertion.statement.pairs, claim.pairs)
        outer = self._compute_share((claim.pairs & assertion.outer.pairs) - assertion.statement.pairs, claim.pairs)
        facts = [
            is_known(each, assertion.statement.numbers.known | sides.find_outer_numbers(assertion))
            for each in claim.numbers.stated
        ]
        facts += [
            each in assertion.statement.latin | assertion.outer.latin | self._question.latin for each in claim.latin
        ]
        right = sum(facts) / len(facts) if facts else 1.0
        opposite = is_contradiction(claim.polarity, assertion.statement.polarity)
        key_score = 0.3 * (1 - self._measure_unsaid(sides, assertion.keys)) if assertion.keys else 0.0
        unsaid = self._compute_share(assertion.statement.pairs - sides.pairs, assertion.statement.pairs)
        return stated + 0.5 * outer + 0.7 * right - 0.4 * opposite + key_score - 0.15 * unsaid

    def _measure_unsaid_key(self, sides: _ClaimWithQuestion, nearest: Assertion) -> float:
        """Returns the unsaid share of the key of an assertion, where others differ for other keys; else 0."""
        rivals = any(
            each.keys and each.group == nearest.group and each.column == nearest.column and each.value != nearest.value
            for each in self._assertions
        )
        return self._measure_unsaid(sides, nearest.keys) if nearest.keys and (rivals or not nearest.column) else 0.0

    def _measure_unsaid(self, sides: _ClaimWithQuestion, keys: Sequence[Statement]) -> float:
        """Returns the unsaid share of the alternative key that is said most, by words, numbers and names."""
        return min(1 - self._measure_coverage(sides, key) for key in keys)

    def _measure_coverage(self, sides: _ClaimWithQuestion, key: Statement) -> float:
        total = got = 0.0
        if key.pairs:
            total, got = self._weigh_pairs(key.pairs), self._weigh_pairs(key.pairs & sides.pairs)
        elif characters := _HAN.findall(key.numbers.rest):
            total, got = 2.0, 2.0 * sum(each in sides.text for each in characters) / len(characters)
        for number in key.numbers.stated:
            total, got = total + 2, got + 2 * is_known(number, sides.numbers)
        for name in key.latin:
            total, got = total + 3, got + 3 * (name in sides.latin)
        return got / total if total else 1.0

    def _compute_share(self, part: Iterable[str], whole: Iterable[str]) -> float:
        return self._weigh_pairs(part) / (self._weigh_pairs(whole) or 1.0)

    def _weigh_pairs(self, pairs: Iterable[str]) -> float:
        """Weighs pairs by their inverse document frequency among the assertions."""
        count = len(self._assertions)
        return sum(math.log(1 + count / max(self._frequency[pair], 0.5)) for pair in pairs)


@dataclass(frozen=True)
class _ClaimWithQuestion:
    """What claim and question say together."""

    claim: Statement
    question: Statement

    @cached_property
    def pairs(self) -> frozenset[str]:
        return self.claim.pairs | self.question.pairs

    @cached_property
    def text(self) -> str:
        return self.claim.text + self.question.text

    @cached_property
    def numbers(self) -> frozenset[tuple[str, str]]:
        return self.claim.numbers.known | self.question.numbers.known

    @cached_property
    def latin(self) -> frozenset[str]:
        return self.claim.latin | self.question.latin

    def find_outer_numbers(self, assertion: Assertion) -> frozenset[tuple[str, str]]:
        return assertion.outer.numbers.known | self.question.numbers.known


@lru_cache(maxsize=1024)
def extract_assertions(chunk: Chunk) -> list[Assertion]:
    """Extracts the assertions of a chunk, piece by piece, and of two neighbouring pieces together."""
    passage, found = build_passage(0, chunk), list[Assertion]()
    for sentence, heading in zip(passage.sentences, passage.headings, strict=True):
        outer = " ".join([chunk.context, chunk.question or "", heading, sentence.block.lead])
        found += list(_extract_from_sentence(sentence, Statement(fold(outer)), chunk.id))
    return found + [
        _join_assertions(first, second) for first, second in pairwise(found) if _is_continuation(first, second)
    ]


def _extract_from_sentence(sentence: Sentence, outer: Statement, chunk: str) -> Iterable[Assertion]:
    if sentence.is_row:
        (_, key), *cells = sentence.block.cells
        for column, value in cells:
            statement, group = Statement(fold(f"{key} {column}：{value}")), (chunk, sentence.block.group)
            yield Assertion(
                statement, fold(key).strip(), Statement(fold(value)), outer, group, fold(column), sentence.line
            )
        return
    for segment in filter(None, map(str.strip, _SEGMENT.split(sentence.text_without_marker))):
        keyed = _KEYED.fullmatch(segment)
        key, value = keyed.groups() if keyed else ("", segment)
        group = chunk, -1
        yield Assertion(
            Statement(fold(segment)), fold(key).strip(), Statement(fold(value)), outer, group, line=sentence.line
        )


def _is_continuation(first: Assertion, second: Assertion) -> bool:
    prose = not (first.column or second.column or second.key)
    return prose and second.line - first.line <= 1 and first.outer == second.outer


def _join_assertions(first: Assertion, second: Assertion) -> Assertion:
    statement, value = (
        Statement(f"{one.text};{other.text}")
        for one, other in ((first.statement, second.statement), (first.value, second.value))
    )
    return Assertion(statement, first.key, value, first.outer, first.group, line=first.line)


def _find_subject_pairs(claim: Statement, nearest: Assertion) -> frozenset[str]:
    """Returns the pairs of a claim before the first that the assertion has too; all where it has none."""
    ordered = claim.ordered_pairs
    first = next((index for index, pair in enumerate(ordered) if pair in nearest.statement.pairs), len(ordered))
    return frozenset(ordered[:first])
