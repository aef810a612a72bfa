"""Which of the scored sentences make the reply: as few as answer."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answering.scoring import Scored, bigrams
from agents.answering.wanted import AskedTerms
from agents.understanding.answer_type import AnswerType

SHORT_SENTENCES = 3
"""A fragment of up to this many sentences may be quoted whole."""
ENOUGH_CHARS = 140
"""A reply that is no list is not made longer than this by a further sentence."""
WHOLE_CHARS = 240
"""A table or list that is nearly as good as the best sentence is quoted whole up to here."""
NEARLY = 0.75
FILL_CHARS = 100
"""Up to here what stands beside the best sentence is quoted with it."""
TYPED_SHARE = 0.65
"""What holds the amount, time or number asked for goes first when it is worth this share of the best sentence."""
PARALLEL_SHARE = 0.4
"""Sentences of one fragment that share so many pairs of characters tell two cases apart."""
NEW_SHARE = 0.08
"""A sentence of another fragment speaks of at least this share of the question that is not spoken of yet."""
RELATIVE_SCORE = 0.4
"""A sentence worth less than this share of the best one is left out."""


def choose(scored: Sequence[Scored], wanted: AskedTerms, max_sources: int) -> list[Scored]:
    """scored: best first. The best one, and what it leaves open or what stands beside it, while that is short."""
    chosen: list[Scored] = []
    for candidate in _of_type_first(scored, wanted):
        if chosen and not _adds(candidate, chosen, wanted):
            continue
        if len({item.unit.passage.fragment for item in (*chosen, candidate)}) <= max_sources:
            chosen.append(candidate)
    return _some_of_each(chosen)


def _of_type_first(scored: Sequence[Scored], wanted: AskedTerms) -> list[Scored]:
    """What has the amount, time or number asked for before what has not, where it is nearly as good."""
    if not scored or not wanted.exact:
        return list(scored)
    least = TYPED_SHARE * scored[0].score
    return sorted(scored, key=lambda item: wanted.exact.isdisjoint(item.met) or item.score < least)


def _some_of_each(chosen: Sequence[Scored]) -> list[Scored]:
    """Without the weakest sentence of a fragment that would be quoted whole; lists and tables stay as they are."""
    kept = list(chosen)
    for passage in dict.fromkeys(item.unit.passage for item in chosen):
        of_it = [item for item in chosen if item.unit.passage is passage]
        quoted = sum(len(item.unit.indices) for item in of_it)
        if quoted == passage.total > SHORT_SENTENCES and len(of_it) > 1 and not of_it[-1].whole:
            kept.remove(of_it[-1])
    return kept


def _adds(candidate: Scored, chosen: Sequence[Scored], wanted: AskedTerms) -> bool:
    best = chosen[0]
    size = candidate.size + sum(item.size for item in chosen)
    if _other_case(candidate, best):
        return False
    if _beside(candidate, best) and size <= FILL_CHARS:
        return True
    if candidate.score < RELATIVE_SCORE * best.score:
        return False
    nearly = candidate.score >= NEARLY * best.score
    lacking = not wanted.exact.isdisjoint(best.met) and wanted.exact.isdisjoint(candidate.met)
    elsewhere = not nearly and candidate.unit.passage is not best.unit.passage
    if lacking or (elsewhere and not _tells_more(candidate, chosen, wanted)):
        return False
    return size <= (WHOLE_CHARS if candidate.whole and nearly else ENOUGH_CHARS)


def _tells_more(candidate: Scored, chosen: Sequence[Scored], wanted: AskedTerms) -> bool:
    """Whether it speaks of more of the question than what is there, or has a type of answer that is missing."""
    terms = frozenset[str]().union(*(item.terms for item in chosen))
    met = frozenset[AnswerType]().union(*(item.met for item in chosen))
    return wanted.share(candidate.terms - terms) >= NEW_SHARE or not candidate.met <= met


def _other_case(candidate: Scored, best: Scored) -> bool:
    """Whether it says in much the same words what holds of something that is not asked about."""
    if candidate.unit.passage is not best.unit.passage or not candidate.terms < best.terms:
        return False
    own, other = (bigrams(item.unit.text) for item in (candidate, best))
    return len(own & other) >= PARALLEL_SHARE * min(len(own), len(other))


def _beside(candidate: Scored, best: Scored) -> bool:
    """Under the same heading of the same fragment."""
    return candidate.unit.passage is best.unit.passage and candidate.unit.heading == best.unit.heading
