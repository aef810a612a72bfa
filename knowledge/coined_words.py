"""Finds words of a knowledge base that the dictionary lacks, by cohesion and by the variety of their neighbours."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from knowledge.text import Analyzer, is_chinese_word

# What is said twice may be one sentence, copied.
MIN_COUNT = 3
MAX_WORDS = 4
MAX_CHARS = 8
# Normalised pointwise mutual information: 1 for parts that stand nowhere else, 0 for those that meet by chance.
MIN_COHESION = 0.7
# Entropy, in nats, of what stands before and after: three neighbours of like frequency have 1.1, two have 0.7. Half a
# word has a certain neighbour.
MIN_BRANCHING = 0.9


@dataclass(frozen=True, slots=True)
class CoinedWord:
    """A run that the dictionary cuts: how often it stands there, and in which parts it is cut."""

    term: str
    count: int
    parts: tuple[str, ...]


def find_coined_words(texts: Sequence[str], analyzer: Analyzer, most: int) -> list[CoinedWord]:
    """Finds the most frequent words that the dictionary would cut.

    Args:
        texts: Folded texts of the base.
        analyzer: The tenant's analyzer.
        most: How many to return.
    """
    cut = [analyzer.split_words(text) for text in texts]
    counts = Counter(word for words in cut for word in words)
    total = sum(counts.values()) or 1
    runs: Counter[tuple[str, ...]] = Counter(run for words in cut for _, run in _list_runs(words))
    frequent = {run for run, count in runs.items() if count >= MIN_COUNT and _is_cohesive(run, count, counts, total)}
    before, after = _count_neighbours(cut, frequent)
    whole = [
        CoinedWord("".join(run), runs[run], run)
        for run in frequent
        if min(_compute_entropy(before[run]), _compute_entropy(after[run])) >= MIN_BRANCHING
        and not analyzer.get_frequency("".join(run))
    ]
    return sorted(whole, key=lambda word: (-word.count * len(word.parts), word.term))[:most]


def _list_runs(words: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yields runs of two to four neighbouring Chinese words, and where each run begins."""
    for start in range(len(words)):
        run: tuple[str, ...] = ()
        for word in words[start : start + MAX_WORDS]:
            run = (*run, word)
            if not is_chinese_word(word) or sum(map(len, run)) > MAX_CHARS:
                break
            if len(run) > 1:
                yield start, run


def _is_cohesive(run: tuple[str, ...], count: int, counts: Counter[str], total: int) -> bool:
    """Returns whether the words of a run occur together much more often than by chance."""
    together, chance = math.log(count / total), sum(math.log(counts[word] / total) for word in run)
    return (together - chance) / (len(run) - 1) >= -together * MIN_COHESION


def _count_neighbours(
    cut: Iterable[Sequence[str]], wanted: set[tuple[str, ...]]
) -> tuple[dict[tuple[str, ...], Counter[str]], dict[tuple[str, ...], Counter[str]]]:
    """Counts, for each wanted run, the words directly before and directly after it."""
    before: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    after: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for index, words in enumerate(cut):
        for start, run in _list_runs(words):
            if run in wanted:
                end = start + len(run)
                before[run][words[start - 1] if start else f"{index}"] += 1
                after[run][words[end] if end < len(words) else f"{index}"] += 1
    return before, after


def _compute_entropy(beside: Counter[str]) -> float:
    total = sum(beside.values())
    return -sum(count / total * math.log(count / total) for count in beside.values())
