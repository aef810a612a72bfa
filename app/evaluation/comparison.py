"""Two reports, turn by turn. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.evaluation.judgement import TurnVerdict
from app.evaluation.results import TurnResult
from knowledge.evaluation.significance import sign_test

_DATED = re.compile(r"\d{8,}")
_RANK = {TurnVerdict.WRONG: 0, TurnVerdict.PARTLY: 1, TurnVerdict.CORRECT: 2}


class TurnEffect(StrEnum):
    """What became of a turn. OTHER: judged the same, by another reply."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class ComparedTurn:
    """A turn that both reports have and that says the same in both."""

    effect: TurnEffect
    before: TurnResult
    after: TurnResult


@dataclass(frozen=True, slots=True)
class ReportComparison:
    """p_value: how often turns that became correct and turns that no longer are would be as uneven as here, were both
    equally likely (exact sign test, two-sided; McNemar 1947). unmatched: turns of one report that the other has not, or
    that say something else there.
    """

    turns: tuple[ComparedTurn, ...]
    counts: dict[TurnEffect, int]
    gained: int
    lost: int
    p_value: float
    unmatched: int


def compare_results(before: Sequence[TurnResult], after: Sequence[TurnResult]) -> ReportComparison:
    """Compares results by conversation and number of the turn; what changed comes first, in the order of `after`."""
    known = {(one.case, one.turn): one for one in before}
    turns = [
        ComparedTurn(_find_effect(earlier, one), earlier, one)
        for one in after
        if (earlier := known.get((one.case, one.turn))) is not None and _is_same_question(earlier, one)
    ]
    order = list(TurnEffect)
    gained = sum(turn.after.correct and not turn.before.correct for turn in turns)
    lost = sum(turn.before.correct and not turn.after.correct for turn in turns)
    counted = Counter(turn.effect for turn in turns)
    return ReportComparison(
        tuple(sorted(turns, key=lambda turn: order.index(turn.effect))),
        {effect: counted[effect] for effect in TurnEffect},
        gained,
        lost,
        sign_test(gained, lost),
        len(before) + len(after) - 2 * len(turns),
    )


def _find_effect(before: TurnResult, after: TurnResult) -> TurnEffect:
    gain = _RANK[after.verdict] - _RANK[before.verdict]
    if gain:
        return TurnEffect.BETTER if gain > 0 else TurnEffect.WORSE
    return TurnEffect.SAME if before.reply == after.reply else TurnEffect.OTHER


def _is_same_question(before: TurnResult, after: TurnResult) -> bool:
    """Dates apart, as numbers of orders hold them: they move with the day of the run. Three years are not two."""
    return _DATED.sub("0", before.say) == _DATED.sub("0", after.say)
