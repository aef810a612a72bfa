"""Chooses the sentences that answer a question best."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.asking import without_asking
from agents.llm.base import Request
from agents.llm.sentences import Sentence
from agents.llm.units import Passage, Unit, passage_of, units_of
from knowledge.text import Analyzer

MAX_REPLY_CHARS = 350
SHORT_SENTENCES = 3
"""A fragment of up to this many sentences may be quoted whole."""
FULL_ENOUGH_CHARS = 200
"""Up to here the best fragment is quoted on, past its best sentences: on answers with several gold sentences this
covers 84 % of their text instead of 71 %, and the rest of the same passage is what a reader needs next."""
RELATIVE_SCORE = 0.55
"""A sentence worth less than this share of the best one is left out."""
TELLING_SHARE = 0.15
"""A row that covers this share of the question beyond what all rows do is the one asked for: E03 怎么办. Else the
question is about the table: 退款多久到账."""

_HOW = re.compile(r"怎么|怎样|如何|步骤|流程|方法|办理|操作|怎么办|咋|how", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"多少|几|多久|多长|多大|多高|多重|什么时候|何时|哪年|哪天|时间|期限|价格|费用|尺寸|how (?:much|many|long)|when",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d|[一二两三四五六七八九十百千万]+(?:年|个?月|天|日|小时|分钟|元|%|％|次|个|倍)")


@dataclass(frozen=True, slots=True)
class Quote:
    """Sentences of one fragment, in document order."""

    fragment: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A question: shares of its terms, adding up to 1, and whether it asks for a way or for an amount."""

    weights: dict[str, float]
    how: bool
    how_many: bool

    def share(self, terms: frozenset[str]) -> float:
        """Of the question's terms given."""
        return sum([self.weights[term] for term in terms])


class SentenceSelector:
    """Scores units of sentences by the question's terms, weighted by their idf.

    analyzer: the one that made the question's terms; max_sources: fragments quoted at most.
    """

    def __init__(self, analyzer: Analyzer, max_sources: int) -> None:
        if max_sources < 1:
            raise ValueError("max_sources must be at least 1")
        self._tokens = analyzer.tokens
        self._occurring = lru_cache(maxsize=8192)(analyzer.occurring)  # the same passages answer most questions
        self._max_sources = max_sources

    def select(self, request: Request) -> list[Quote]:
        """The best quotes, those of the best fragment first; empty when nothing may be quoted."""
        passages = _distinct([passage_of(fragment, chunk) for fragment, chunk in request.chunks.items()])
        wanted = self._wanted(request)
        scored = [pair for rank, passage in enumerate(passages) for pair in self._scored(passage, rank, wanted)]
        scored.sort(key=lambda pair: -pair[0])
        chosen = self._choose(scored)
        return [quote for passage in passages if (quote := _quote(passage, chosen, scored))]

    def _wanted(self, request: Request) -> _Wanted:
        """A sentence that also asks 怎么办 is no better for it."""
        terms, idf = request.terms, request.idf
        if not terms:
            terms = tuple(self._tokens(request.question))
            idf = (1.0,) * len(terms)
        content = frozenset(self._tokens(without_asking(request.question)))
        weights = {term: weight for term, weight in zip(terms, idf, strict=True) if term in content or not content}
        total = sum(weights.values()) or 1.0
        how, how_many = _HOW.search(request.question), _HOW_MANY.search(request.question)
        return _Wanted({term: weight / total for term, weight in weights.items()}, bool(how), bool(how_many))

    def _scored(self, passage: Passage, rank: int, wanted: _Wanted) -> list[tuple[float, Unit]]:
        """The units of a passage that say something, each with its score, between 0 and about 1.5."""
        units = units_of(passage, keep_lists=wanted.how)
        held = [self._held(unit.text, wanted) for unit in units]
        shared = _shared([terms for unit, terms in zip(units, held, strict=True) if unit.is_row], wanted)
        context = self._held(passage.chunk.context, wanted)
        return [
            (_score(unit, terms, context, shared, wanted) / (1 + 0.25 * rank), unit)
            for unit, terms in zip(units, held, strict=True)
            if not unit.only_announces
        ]

    def _held(self, text: str, wanted: _Wanted) -> frozenset[str]:
        """The question's terms that a text holds."""
        return self._occurring(text).among(wanted.weights)

    def _choose(self, scored: Sequence[tuple[float, Unit]]) -> set[tuple[int, int]]:
        """Indices (fragment, sentence): the best units while they are good and fit, all of a short best fragment."""
        chosen: set[tuple[int, int]] = set()
        length = 0
        if not scored:
            return chosen
        best, top = scored[0]
        short = top.passage.total <= SHORT_SENTENCES
        table = sum(len(unit.text) for _, unit in scored if unit.passage is top.passage and unit.is_row)
        for score, unit in scored:
            size = len(unit.text)
            fills = unit.passage is top.passage and (short or length + size <= FULL_ENOUGH_CHARS)
            fills = fills and (not unit.is_row or table <= FULL_ENOUGH_CHARS)
            wanted = fills or score >= RELATIVE_SCORE * best
            if chosen and (not wanted or length + size > MAX_REPLY_CHARS):
                continue
            quoted = {fragment for fragment, _ in chosen} | {unit.passage.fragment}
            if len(quoted) > self._max_sources:
                continue
            chosen.update((unit.passage.fragment, index) for index in unit.indices)
            length += size
        return chosen


def _shared(rows: Sequence[frozenset[str]], wanted: _Wanted) -> frozenset[str]:
    """Terms of every row of a table, such as the heads of its columns, where other terms tell the rows apart."""
    shared = frozenset.intersection(*rows) if len(rows) > 1 else frozenset()
    telling = (wanted.share(row - shared) for row in rows)
    return shared if max(telling, default=0.0) >= TELLING_SHARE else frozenset()


def _score(
    unit: Unit, terms: frozenset[str], context: frozenset[str], shared: frozenset[str], wanted: _Wanted
) -> float:
    """The share of the question that the unit covers, and what its form promises."""
    text = unit.text
    if unit.is_row:
        terms, context = terms - shared, context | shared
    score = wanted.share(terms) + 0.3 * wanted.share(context - terms)
    if wanted.how_many and _NUMBER.search(text):
        score += 0.1
    if wanted.how and unit.is_list:
        score += 0.2
    score += 0.05 * (unit.indices[0] == 0)
    return score / (1 + len(text) / 1500)


def _quote(passage: Passage, chosen: set[tuple[int, int]], scored: Sequence[tuple[float, Unit]]) -> Quote | None:
    indices = [index for index in range(len(passage.sentences)) if (passage.fragment, index) in chosen]
    if len(indices) == passage.total > SHORT_SENTENCES:
        indices.remove(_least(passage, scored))
    if not indices:
        return None
    return Quote(passage.fragment, tuple(passage.sentences[index] for index in indices))


def _least(passage: Passage, scored: Sequence[tuple[float, Unit]]) -> int:
    """The sentence whose loss hurts least: the lead-in of a list, else the end of the weakest unit."""
    weakest = next(unit for _, unit in reversed(scored) if unit.passage is passage)
    if passage.sentences[weakest.indices[0]].leads_in:
        return weakest.indices[0]
    return weakest.indices[-1]


def _distinct(passages: Sequence[Passage]) -> list[Passage]:
    """Drops fragments without sentences and those whose sentences an earlier one has (chunks overlap)."""
    seen: set[str] = set()
    result = []
    for passage in passages:
        sentences = tuple(s for s in passage.sentences if s.text not in seen)
        seen.update(s.text for s in sentences)
        if sentences:
            result.append(Passage(passage.fragment, passage.chunk, sentences, passage.total))
    return result
