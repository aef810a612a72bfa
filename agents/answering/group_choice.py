"""Chooses which of the scored groups of blocks make the reply."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answering.asked_terms import AskedTerms
from agents.answering.conflicts import is_repeated
from agents.answering.scoring import ScoredUnit, extract_bigrams
from agents.understanding.answer_type import AnswerType
from agents.verification.quantities import find_quantities, is_same_kind
from knowledge.text import fold

# What stands under one heading is quoted whole up to here.
SECTION_CHARS = 120
# Of one passage as many of the groups that answer are quoted as fit.
PASSAGE_CHARS = 300
# With what another section adds, a reply is no longer than this.
REPLY_CHARS = 400
# What is not nearly as good as the best group is added up to here.
ADDED_CHARS = 160
# A group of another section that is worth this share of the best one is a second answer.
NEARLY = 0.8
# A short one that tells more is worth at least this share.
ADDED_SHARE = 0.5
# A group of the same passage that is worth by itself less than this share of the best one is left out.
RELATIVE_SCORE = 0.3
# Groups of one passage that share so many pairs of characters tell two cases apart.
PARALLEL_SHARE = 0.4
# What holds the amount, time or number asked for goes first when it is worth this share of the best group.
TYPED_SHARE = 0.65
# A group that tells more speaks of at least this share of the question that is not spoken of yet. Chosen on the
# conversations of tests/evaluation and on the questions of two help centres; 42 of 68 of the latter were answered
# right and clean by the best sentences. Whole sections up to 300 characters instead of the groups of them that answer
# change none of the figures by more than one answer, and make replies a fifth longer.
NEW_SHARE = 0.08


def choose_groups(scored: Sequence[ScoredUnit], wanted: AskedTerms, max_sources: int) -> list[ScoredUnit]:
    """Returns the best group, with its whole section where that is short, other answers in its passage, and what
    another passage adds. scored: best first.
    """
    ordered = _put_typed_first(scored, wanted)
    if not ordered:
        return []
    best = ordered[0]
    section = [item for item in ordered if _is_in_section(item, best) and not _is_other_case(item, best)]
    chosen = section if _measure_size(section) <= SECTION_CHARS else [best]
    for candidate in ordered:
        sources = {item.unit.passage.fragment for item in (*chosen, candidate)}
        if candidate not in chosen and len(sources) <= max_sources and _is_addition(candidate, best, chosen, wanted):
            chosen.append(candidate)
    return chosen


def _put_typed_first(scored: Sequence[ScoredUnit], wanted: AskedTerms) -> list[ScoredUnit]:
    """Moves groups with the amount, time or number asked for ahead of others that are not much better."""
    if not scored or not wanted.exact_types:
        return list(scored)
    least = TYPED_SHARE * scored[0].score
    return sorted(scored, key=lambda item: wanted.exact_types.isdisjoint(item.met) or item.score < least)


def _is_addition(candidate: ScoredUnit, best: ScoredUnit, chosen: Sequence[ScoredUnit], wanted: AskedTerms) -> bool:
    size, most = _measure_size([*chosen, candidate]), max(item.score for item in chosen)
    if candidate.unit.passage is best.unit.passage:
        enough = candidate.own >= RELATIVE_SCORE * best.own and size <= PASSAGE_CHARS
        return enough and not _is_other_case(candidate, best)
    met = frozenset[AnswerType]().union(*(item.met for item in chosen))
    # A group without the amount asked for adds nothing to one that has it.
    if size > REPLY_CHARS or (wanted.exact_types & met and wanted.exact_types.isdisjoint(candidate.met)):
        return False
    if candidate.score < NEARLY * most:
        short = candidate.size <= ADDED_CHARS and candidate.score >= ADDED_SHARE * most
        if not short or not (_has_more(candidate, chosen, met, wanted) or _has_other_value(candidate, best, wanted)):
            return False
    return not is_repeated(candidate, chosen)


def _has_more(
    candidate: ScoredUnit, chosen: Sequence[ScoredUnit], met: frozenset[AnswerType], wanted: AskedTerms
) -> bool:
    """Whether it covers more of the question than the chosen ones, or has a type of answer that is missing."""
    terms = frozenset[str]().union(*(item.terms for item in chosen))
    return wanted.compute_share(candidate.terms - terms) >= NEW_SHARE or not candidate.met <= met


def _has_other_value(candidate: ScoredUnit, best: ScoredUnit, wanted: AskedTerms) -> bool:
    """Whether it answers the question with another amount, time or number: both are told."""
    if not wanted.exact_types & best.met & candidate.met:
        return False
    own, other = (find_quantities(fold(item.unit.text)).stated for item in (candidate, best))
    return any(is_same_kind(one, value) for one in own - other for value in other)


def _is_in_section(item: ScoredUnit, best: ScoredUnit) -> bool:
    return item.unit.passage is best.unit.passage and item.unit.heading == best.unit.heading


def _is_other_case(candidate: ScoredUnit, best: ScoredUnit) -> bool:
    """Whether it says in much the same words what holds for something that is not asked about."""
    if not candidate.terms < best.terms:
        return False
    own, other = (extract_bigrams(item.unit.text) for item in (candidate, best))
    return len(own & other) >= PARALLEL_SHARE * min(len(own), len(other))


def _measure_size(items: Sequence[ScoredUnit]) -> int:
    return sum(item.size for item in items)
