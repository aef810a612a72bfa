"""Where the gate should stand, and which point of a sweep is best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from app.settings import Settings
from app.tuner.calibration import calibrate_threshold
from app.tuner.grid import GridPoint, TriedQuestion, build_grid, compare_points, locate_settings
from app.tuner.ranges import RANGES, apply_overrides, check_values, require_consistent
from knowledge.evaluation.cutoffs import Probabilities

SETTINGS = Settings()


def scored(answerable: float, unanswerable: float, count: int = 60) -> Probabilities:
    """Two heaps around these probabilities."""
    generator = np.random.default_rng(3)
    heaps = [
        [float(np.clip(middle + generator.normal(0, 0.05), 0, 1)) for _ in range(count)]
        for middle in (answerable, unanswerable)
    ]
    return Probabilities(*heaps)


def test_the_gate_is_put_between_both_kinds_and_what_follows_from_it_can_be_set() -> None:
    told = calibrate_threshold(scored(0.95, 0.7), SETTINGS, None)
    chosen = told["recommended"]["threshold"]
    assert 0.7 < chosen < 0.95 and told["interval"]["low"] <= chosen <= told["interval"]["high"]
    assert told["difference"]["significant"] and told["recommended"]["refused"] > told["current"]["refused"]
    assert (
        require_consistent(apply_overrides(SETTINGS, check_values(told["values"], SETTINGS))).similarity_threshold
        == chosen
    )
    thresholds = [point["threshold"] for point in told["curve"]]
    assert thresholds == sorted(thresholds) and thresholds[0] == RANGES["similarity_threshold"].low
    assert all(one["refused"] <= other["refused"] for one, other in zip(told["curve"], told["curve"][1:], strict=False))


@pytest.mark.parametrize("wanted", [0.8, 0.95])
def test_of_the_thresholds_that_refuse_enough_the_one_that_answers_most_is_chosen(wanted: float) -> None:
    told = calibrate_threshold(scored(0.75, 0.65, 200), SETTINGS, wanted)
    chosen = told["recommended"]
    assert told["reached"] and chosen["refused"] >= wanted
    others = [point for point in told["curve"] if point["refused"] >= wanted]
    assert chosen["answered"] == max(point["answered"] for point in others)


def test_a_share_that_no_threshold_refuses_is_told_to_be_out_of_reach() -> None:
    certain = Probabilities([0.999] * 30, [0.999] * 30)
    assert not calibrate_threshold(certain, SETTINGS, 0.9)["reached"]


def outcomes(*rights: bool) -> list[TriedQuestion]:
    return [TriedQuestion(True, True, right, 1 if right else 3) for right in rights]


def test_a_sweep_recommends_only_what_is_better_than_what_is_in_force() -> None:
    points = build_grid([0.2, 0.8], [60], [25])
    assert points == [GridPoint(0.2, 60, 25), GridPoint(0.8, 60, 25)]
    half = outcomes(*([True, False] * 40))
    better = outcomes(*([True, True, True, False] * 20))
    found = compare_points(locate_settings(SETTINGS), half, points, [half, better])
    assert (found["best"]["alpha"], found["values"]["rrf_vector_weight"]) == (0.8, 0.8)
    assert found["current"] == {"alpha": 0.6, "k": 60, "width": 25} | {
        "right": 0.5,
        "answered": 1.0,
        "refused": None,
        "hit1": 0.5,
        "mrr": 0.6667,
    }
    assert compare_points(locate_settings(SETTINGS), half, points, [half, half])["values"] == {}
    assert all(check_values(point.to_values(), SETTINGS) for point in points)


def test_a_gate_that_does_as_well_as_any_other_stays() -> None:
    nothing_found = Probabilities([0.0] * 30, [0.0] * 30)
    for questions, refusal in ((nothing_found, None), (nothing_found, 0.5), (scored(0.95, 0.2), None)):
        told = calibrate_threshold(questions, SETTINGS, refusal)
        assert (told["values"], told["recommended"]["threshold"]) == ({}, SETTINGS.similarity_threshold)


def test_a_gain_on_the_few_questions_without_an_answer_is_told_as_one() -> None:
    few = replace(scored(0.95, 0.7, count=200), open_ones=scored(0.95, 0.7, count=25).open_ones)
    told = calibrate_threshold(few, SETTINGS, None)
    gained = {name: told["recommended"][name] - told["current"][name] for name in ("answered", "refused")}
    assert told["difference"]["value"] == pytest.approx((gained["answered"] + gained["refused"]) / 2, abs=1e-3)
    assert told["difference"]["significant"] and told["difference"]["low"] > 0
