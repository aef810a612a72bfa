"""Answers A 和 B 哪个好 with the same aspect of both, side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from agents.answering.scoring import ScoredUnit, extract_bigrams
from agents.passages.units import MAX_LIST_CHARS, Passage
from agents.understanding.question_words import is_comparison
from knowledge.text import fold

MAX_NAME_CHARS = 16
# Sentences of each, the best ones, that are compared with each other.
MAX_CANDIDATES = 8
# Places of a question that are looked at for a name on either side.
MAX_BETWEEN = 8
# Two sentences that say much in the same words are about the same aspect.
ALIKE_WEIGHT = 0.5
# What else names both things is quoted too when it is worth this share of the best that does.
BOTH_SHARE = 0.85

_BETWEEN = re.compile(r"\s*(?:和|跟|与|同|还是|比起|对比|相比|比|(?<![a-z])(?:vs\.?|and|or)(?![a-z]))\s*")


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two names, folded, as the question has them; neither is the other."""

    first: str
    second: str

    def find_named(self, text: str) -> frozenset[str]:
        """Returns the names that a text has; of two, one within the other, the longer is looked for first."""
        text, found = fold(text), set()
        for name in sorted((self.first, self.second), key=len, reverse=True):
            if name in text:
                found.add(name)
                text = text.replace(name, " ")
        return frozenset(found)


def find_compared_pair(question: str, passages: Sequence[Passage]) -> ComparedPair | None:
    """Returns the two things that a question compares: names around 和, 还是 or 比 that the passages have too; None
    without.
    """
    folded = fold(question)
    if not is_comparison(folded):
        return None
    known = fold("\n".join(f"{passage.chunk.context}\n{passage.chunk.text}" for passage in passages))
    for between in islice(_BETWEEN.finditer(folded), MAX_BETWEEN):
        left, right = folded[: between.start()], folded[between.end() :]
        first = next(
            (left[-size:] for size in range(min(MAX_NAME_CHARS, len(left)), 1, -1) if left[-size:] in known), ""
        )
        second = next(
            (right[:size] for size in range(min(MAX_NAME_CHARS, len(right)), 1, -1) if right[:size] in known), ""
        )
        first, second = first.strip(), second.strip()
        if len(first) > 1 and len(second) > 1 and first != second:
            return ComparedPair(first, second)
    return None


def choose_side_by_side(scored: Sequence[ScoredUnit], pair: ComparedPair, max_sources: int) -> list[ScoredUnit] | None:
    """Returns the groups that name both, or two groups, one of each, that are good and most alike; None where neither
    is there.

    scored: best first.
    """
    named = [(item, pair.find_named(item.unit.text)) for item in scored]
    both = [item for item, names in named if len(names) == 2]
    one = [(item, names or pair.find_named(_join_headings(item))) for item, names in named]
    firsts = [item for item, names in one if names == {pair.first}][:MAX_CANDIDATES]
    seconds = [item for item, names in one if names == {pair.second}][:MAX_CANDIDATES]
    pairs = [two for two in product(firsts, seconds) if _count_fragments(two) <= max_sources]
    two = max(pairs, key=_score_pair, default=None)
    if both and (two is None or both[0].score >= min(item.score for item in two)):
        return _keep_fitting([item for item in both if item.score >= BOTH_SHARE * both[0].score], max_sources)
    return [_add_label(item, name) for item, name in zip(two, (pair.first, pair.second), strict=True)] if two else None


def _score_pair(two: tuple[ScoredUnit, ScoredUnit]) -> float:
    return two[0].score + two[1].score + ALIKE_WEIGHT * _compute_similarity(*two)


def _keep_fitting(items: Sequence[ScoredUnit], max_sources: int) -> list[ScoredUnit]:
    kept: list[ScoredUnit] = []
    for item in items:
        fits = item.size + sum(other.size for other in kept) <= MAX_LIST_CHARS
        if not kept or (fits and _count_fragments([*kept, item]) <= max_sources):
            kept.append(item)
    return kept


def _count_fragments(items: Sequence[ScoredUnit]) -> int:
    return len({item.unit.passage.fragment for item in items})


def _join_headings(item: ScoredUnit) -> str:
    return f"{item.unit.heading}\n{item.unit.passage.chunk.context}"


def _compute_similarity(one: ScoredUnit, other: ScoredUnit) -> float:
    """Returns the Jaccard similarity of the pairs of characters."""
    first, second = (extract_bigrams(item.unit.text) for item in (one, other))
    return len(first & second) / (len(first | second) or 1)


def _add_label(item: ScoredUnit, name: str) -> ScoredUnit:
    """Returns the group with the name in front, where the group does not name it."""
    if name in fold(item.shown[0]):
        return item
    label = f"{name.upper() if name.isascii() else name}：" + "\n\n" * item.shown[0].startswith("| ")
    return replace(item, shown=(label + item.shown[0], *item.shown[1:]))
