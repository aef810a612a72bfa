"""Whether a difference is more than chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import fisher_exact

from app.tuner.comparing import Conclusion, compared
from app.tuner.repository_experiments import ArmCounts
from app.tuner.statistics import best_against, holm, paired, proportions
from app.tuner.types import CONTROL, TREATMENT


def test_the_best_of_many_that_are_no_better_is_luck_and_one_that_is_better_is_found() -> None:
    generator = np.random.default_rng(1)
    current = generator.random(200) < 0.6
    noise = generator.random((30, 200)) < 0.6
    best, difference = best_against(current, noise)
    assert difference.value > 0.02 and not difference.significant
    alone = paired(current, noise[best])
    assert alone.p < difference.p, "looking at thirty points is paid for"
    better = np.vstack([noise, current | (generator.random(200) < 0.5)])
    best, difference = best_against(current, better)
    assert best == 30 and difference.significant and difference.low > 0


def test_what_never_differs_is_no_difference() -> None:
    same = np.ones(30, dtype=bool)
    assert (paired(same, same).p, paired(same, same).value) == (1.0, 0.0)


def test_shares_are_compared_exactly_with_an_interval_around_the_difference() -> None:
    same, clear = proportions(10, 100, 10, 100), proportions(10, 200, 40, 200)
    assert same.p == pytest.approx(1.0) and same.low < 0 < same.high
    assert clear.significant and 0 < clear.low < clear.value < clear.high
    assert proportions(0, 0, 3, 3).p == 1.0


@pytest.mark.parametrize(
    ("count", "of", "other", "of_other"),
    [(0, 1, 1, 1), (3, 10, 8, 12), (0, 50, 5, 50), (40, 40, 30, 40), (700, 9000, 810, 8800), (10, 20, 10, 20)],
)
def test_the_chance_of_two_shares_is_that_of_scipy(count: int, of: int, other: int, of_other: int) -> None:
    reference = fisher_exact([[count, of - count], [other, of_other - other]]).pvalue
    assert proportions(count, of, other, of_other).p == pytest.approx(reference, rel=1e-8)


def test_several_tests_are_paid_for() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.5]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(
    ("treatment", "conclusion"),
    [
        (ArmCounts(units=30, turns=40, answered=30), Conclusion.TOO_FEW),
        (ArmCounts(units=300, turns=400, answered=150), Conclusion.NO_DIFFERENCE),
        (ArmCounts(units=300, turns=400, answered=220), Conclusion.BETTER),
        (ArmCounts(units=300, turns=400, answered=90), Conclusion.WORSE),
        (ArmCounts(units=300, turns=400, answered=220, handoff=80), Conclusion.MIXED),
    ],
)
def test_nothing_is_concluded_from_too_few_or_without_significance(
    treatment: ArmCounts, conclusion: Conclusion
) -> None:
    control = ArmCounts(units=300, turns=380, answered=150)
    told = compared({CONTROL: control, TREATMENT: treatment}, needed=200)
    assert told["conclusion"] == conclusion
    assert any(metric["significant"] for metric in told["metrics"]) == (
        conclusion not in (Conclusion.TOO_FEW, Conclusion.NO_DIFFERENCE)
    )
