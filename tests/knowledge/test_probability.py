from __future__ import annotations

import json
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from knowledge.errors import InvalidConfiguration
from knowledge.probability import CUTOFF_PROBABILITY, CalibrationMap

points = st.lists(st.floats(-5, 5), min_size=3, max_size=3).map(sorted)


def calibration(values: list[float]) -> CalibrationMap:
    assume(values[1] - values[0] > 1e-3 and values[2] - values[1] > 1e-3)
    return CalibrationMap("lexical_dense", values[0], values[1], values[2])


def test_the_three_points_get_their_probabilities() -> None:
    fitted = CalibrationMap("cosine", 0.2, 0.5, 0.7)
    assert [fitted.compute_probability(score) for score in (0.2, 0.5, 0.7)] == pytest.approx(
        [0.05, CUTOFF_PROBABILITY, 0.9]
    )


def test_log_odds_are_linear_between_the_points() -> None:
    fitted = CalibrationMap("cosine", 0.2, 0.5, 0.7)
    odds = [math.log(p / (1 - p)) for p in (fitted.compute_probability(s) for s in (0.2, 0.35, 0.5))]
    assert odds[1] == pytest.approx((odds[0] + odds[2]) / 2)


@given(points, st.floats(-6, 6), st.floats(1e-4, 1))
def test_a_higher_score_never_gets_a_lower_probability(values: list[float], score: float, step: float) -> None:
    fitted = calibration(values)
    low, high = fitted.compute_probability(score), fitted.compute_probability(score + step)
    assert 0 <= low <= high <= 1
    assert low < high or high - 0.5 > 0.49 or low < 1e-9


@given(points, st.floats(-6, 6))
def test_the_cutoff_decides_what_reaches_the_default_threshold(values: list[float], score: float) -> None:
    fitted = calibration(values)
    assume(abs(score - fitted.cutoff) > 1e-9)
    assert (fitted.compute_probability(score) >= CUTOFF_PROBABILITY) == (score >= fitted.cutoff)


def test_the_cutoff_itself_reaches_the_default_threshold() -> None:
    for cutoff in (0.1, 0.3, 1 / 3, 0.62):
        assert (
            CalibrationMap("cosine", cutoff - 0.1, cutoff, cutoff + 0.1).compute_probability(cutoff)
            >= CUTOFF_PROBABILITY
        )


@given(points)
def test_it_survives_json(values: list[float]) -> None:
    fitted = calibration(values)
    assert CalibrationMap.from_json(json.loads(json.dumps(fitted.to_json()))) == fitted


@pytest.mark.parametrize("values", [(0.5, 0.5, 0.7), (0.2, 0.7, 0.7), (0.7, 0.5, 0.2), (math.nan, 0.5, 0.7)])
def test_points_that_do_not_rise_are_refused(values: tuple[float, float, float]) -> None:
    with pytest.raises(InvalidConfiguration):
        CalibrationMap("cosine", *values)
