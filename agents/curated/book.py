"""A tenant's curated answers in memory, and which of them a question means. Pure.

A wording that is the same but for politeness, punctuation and spelling decides alone. Else the nearest wordings compete
by meaning and by rare words; those that differ in negation, numbers, models or by one word in the place of another are
out. The probability of the answer comes from how near the first one is, and how far ahead of the next entry with
another answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache

import numpy as np

from agents.bids import apply_logistic
from agents.curated.facts import Facts, has_same_polarity, has_same_subject, is_one_word_apart, read_facts
from agents.curated.normal_form import normalise_wording
from agents.linear import normalize_length
from agents.types import CuratedEntry, CuratedMatch, MatchStage
from agents.understanding.reading import read
from knowledge.text import Analyzer
from knowledge.types import Matrix, Vector

# Wordings nearest by meaning, of which the words are compared.
POOL = 32
# Weight of the words beside the meaning where wordings are put in order: half and twice of it are worth the same.
WORDS = 0.75
# Wordings that the typical sentence counts for, beside few of the company's own that tell what all have in common.
PRIOR = 50
# That a wording of staff's own is answered by its entry.
SURE = 0.99
# What likeness says at most: below what is asked in so many words.
MOST = 0.96


@dataclass(frozen=True, slots=True)
class LikenessWeights:
    """Weights of a logistic head: cosine of the meanings around their centre, cosine of the words by their
    rarity, margin.
    """

    meaning: float
    words: float
    margin: float
    bias: float


# Fitted by `scripts/evaluation/curated.py` on the questions of the sample shop, of which most have no entry.
WEIGHTS = LikenessWeights(4.6, 3.4, 6.1, -5.6)


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to ask, with what is known of it beforehand. entry: place of its entry; words: its terms."""

    text: str
    entry: int
    words: frozenset[str]


# Cosine of the meanings, of the words, and the place of a wording.
Scored = tuple[float, float, int]


@dataclass(frozen=True, slots=True)
class Likeness:
    """How a question compares with the nearest wording: the features of the head."""

    wording: int
    meaning: float
    words: float
    margin: float

    def compute_probability(self, weights: LikenessWeights = WEIGHTS) -> float:
        """Returns the probability that the entry answers the question."""
        return apply_logistic(
            weights.meaning * self.meaning + weights.words * self.words + weights.margin * self.margin + weights.bias
        )


class Book:
    """Safe to share; built anew where an entry changes."""

    def __init__(
        self,
        entries: Sequence[CuratedEntry],
        wordings: Sequence[Wording],
        vectors: Matrix | None,
        typical: Vector | None,
        revision: int = 0,
    ) -> None:
        """Args:
            entries: published answers.
            wordings: all ways to ask them.
            vectors: of the wordings, shape (wordings, dimension).
            typical: the mean of sentences of all kinds.
            revision: of the knowledge base.

        Without an embedder that knows meanings `vectors` and `typical` are None; then only exact wordings are found.
        """
        self.entries, self.wordings, self.revision = tuple(entries), tuple(wordings), revision
        self._forms = {
            normalise_wording(wording.text): number for number, wording in reversed(list(enumerate(wordings)))
        }
        counts = Counter(word for wording in wordings for word in wording.words)
        self._squares = {word: _compute_rarity(len(wordings), count) ** 2 for word, count in counts.items()}
        self._unheard = _compute_rarity(len(wordings), 0) ** 2
        self._lengths = [math.sqrt(self._compute_length(wording.words)) for wording in wordings]
        self._center: Vector | None = None
        self._meanings: Matrix | None = None
        if vectors is not None and typical is not None and len(wordings):
            self._center = (vectors.sum(axis=0) + PRIOR * typical) / (len(wordings) + PRIOR)
            self._meanings = normalize_length(vectors - self._center)

    def copy_at_revision(self, revision: int) -> Book:
        """Returns the same entries for a later revision that did not change them."""
        # A shallow copy shares the matrices, which never change.
        later = copy(self)
        later.revision = revision
        return later

    def __len__(self) -> int:
        return len(self.entries)

    def find_by_wording(self, text: str) -> CuratedMatch | None:
        """Returns the entry that has the text as one of its wordings; None without one."""
        number = self._forms.get(normalise_wording(text))
        if number is None:
            return None
        wording = self.wordings[number]
        entry = self.entries[wording.entry]
        stage = MatchStage.EXACT if wording.text == entry.question else MatchStage.VARIANT
        return CuratedMatch(entry, wording.text, stage, SURE, 1.0, self.revision)

    def find_similar(self, text: str, vector: Vector) -> CuratedMatch | None:
        """Returns the entry that is likeliest to answer. text: normalised; vector: its embedding."""
        found = self.find_likeness(text, vector)
        if found is None:
            return None
        wording = self.wordings[found.wording]
        entry = self.entries[wording.entry]
        probability = min(found.compute_probability(), MOST)
        return CuratedMatch(entry, wording.text, MatchStage.SIMILAR, probability, found.margin, self.revision)

    def find_likeness(self, text: str, vector: Vector, without: Iterable[int] = ()) -> Likeness | None:
        """Returns the likeness of the nearest wording with the same facts; None where there is none.

        without: places of entries that are left out.
        """
        if self._meanings is None or self._center is None:
            return None
        meanings = self._meanings @ normalize_length(vector - self._center)
        words, asked_facts, absent = extract_terms(text), read_facts(text), frozenset(without)
        length = math.sqrt(self._compute_length(words))
        scored = [
            (float(meanings[number]), self._compute_shared_words(words, length, number), number)
            for number in self._list_nearest(meanings)
            if self.wordings[number].entry not in absent
        ]
        scored.sort(key=lambda each: -(each[0] + WORDS * each[1]))
        first: Scored | None = None
        ahead: list[Scored] = []
        for each in scored:
            facts = self._read_facts(each[2])
            if not has_same_subject(asked_facts, facts):
                continue
            if first is None and has_same_polarity(asked_facts, facts) and not is_one_word_apart(asked_facts, facts):
                first = each
            else:
                ahead.append(each)
            if first is not None and (rival := self._find_rival(first, ahead)) is not None:
                return Likeness(first[2], first[0], first[1], _score_nearness(first) - max(_score_nearness(rival), 0.0))
        return Likeness(first[2], first[0], first[1], _score_nearness(first)) if first is not None else None

    def _list_nearest(self, meanings: Vector) -> list[int]:
        """Returns places of the nearest wordings. Where all have one answer, the nearest of the others are added: an
        entry with many wordings must not hide that another one is as near.
        """
        if len(meanings) <= POOL:
            return list(range(len(meanings)))
        nearest: list[int] = np.argpartition(-meanings, POOL)[:POOL].tolist()
        if len(answers := {self._get_answer(number) for number in nearest}) > 1:
            return nearest
        others = np.array(
            [number for number in range(len(meanings)) if self._get_answer(number) not in answers], np.intp
        )
        further: list[int] = others[np.argsort(-meanings[others])[:POOL]].tolist()
        return nearest + further

    def _find_rival(self, first: Scored, others: Sequence[Scored]) -> Scored | None:
        """Returns the nearest of the others that has another answer."""
        answer = self._get_answer(first[2])
        return next((each for each in others if self._get_answer(each[2]) != answer), None)

    def _get_answer(self, number: int) -> str:
        return self.entries[self.wordings[number].entry].answer

    def _read_facts(self, number: int) -> Facts:
        return read_facts(read(self.wordings[number].text).normalized_text)

    def _compute_shared_words(self, words: frozenset[str], length: float, number: int) -> float:
        """Returns the cosine of a text and a wording as bags of words, weighed by rarity, in [0, 1].

        Args:
            words: The text's words.
            length: Their length, from `_compute_length`.
            number: Of the wording.
        """
        both = self._compute_length(words & self.wordings[number].words)
        return both / max(length * self._lengths[number], 1e-9)

    def _compute_length(self, words: Iterable[str]) -> float:
        """Returns the sum of the squared weights of words; unknown words count as the rarest."""
        return sum(self._squares.get(word, self._unheard) for word in words)


def _score_nearness(scored: Scored) -> float:
    return scored[0] + WORDS * scored[1]


def list_wordings(entries: Sequence[CuratedEntry]) -> list[Wording]:
    """Returns all ways to ask, entry by entry."""
    return [
        Wording(text, number, extract_terms(read(text).normalized_text))
        for number, entry in enumerate(entries)
        for text in entry.wordings
    ]


def extract_terms(text: str) -> frozenset[str]:
    """Returns words, pairs and single characters of a normalised text."""
    return frozenset(_load_analyzer().tokenize(text))


def _compute_rarity(wordings: int, holding: int) -> float:
    """As BM25 has it."""
    return math.log(1 + (wordings - holding + 0.5) / (holding + 0.5))


@cache
def _load_analyzer() -> Analyzer:
    """Returns the analyzer of all tenants: a tenant's own words are compared by their characters."""
    return Analyzer()
