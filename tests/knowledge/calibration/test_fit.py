from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.calibration.fit import MIN_LABELLED, Labelled, fit_calibration, fit_english
from knowledge.probability import CUTOFF_PROBABILITY

scores = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


def spread(low: float, high: float, count: int = 40) -> list[float]:
    return [float(value) for value in np.linspace(low, high, count)]


@given(scores, scores)
def test_whatever_the_scores_the_points_rise(unrelated: list[float], typical: list[float]) -> None:
    fitted = fit_calibration("lexical_dense", unrelated, typical)
    assert fitted.scorer == "lexical_dense"
    assert fitted.unrelated < fitted.cutoff < fitted.typical


def test_the_outer_points_are_the_medians() -> None:
    fitted = fit_calibration("cosine", [0.1, 0.2, 0.9], [0.3, 0.7, 0.8])
    assert (fitted.unrelated, fitted.typical) == (0.2, 0.7)


def test_unrelated_questions_are_refused_and_the_typical_one_passes() -> None:
    unrelated, typical = spread(0.1, 0.2), spread(0.6, 0.9)
    fitted = fit_calibration("cosine", unrelated, typical)
    assert all(fitted.compute_probability(score) < CUTOFF_PROBABILITY for score in unrelated)
    assert fitted.compute_probability(np.median(typical)) >= CUTOFF_PROBABILITY


def test_the_cutoff_follows_the_scale_of_the_base() -> None:
    low, high = (
        fit_calibration("cosine", spread(0.1, 0.2), spread(0.4, 0.6)),
        fit_calibration("cosine", spread(0.7, 0.8), spread(1.0, 1.2)),
    )
    assert high.cutoff == pytest.approx(low.cutoff + 0.6)


@given(scores, scores)
def test_a_few_labels_change_nothing(unrelated: list[float], typical: list[float]) -> None:
    few = Labelled(spread(0, 1, MIN_LABELLED - 1), spread(-1, 0, 500))
    assert fit_calibration("cosine", unrelated, typical, few) == fit_calibration("cosine", unrelated, typical)


def test_a_labelled_set_moves_the_cutoff_into_its_own_gap() -> None:
    labelled = Labelled(spread(0.5, 0.8, MIN_LABELLED), spread(0.1, 0.4, MIN_LABELLED))
    fitted = fit_calibration("cosine", spread(0.0, 0.1), spread(0.8, 0.9), labelled)
    assert fitted.cutoff == pytest.approx(0.45)


def test_a_labelled_set_counts_both_kinds_alike() -> None:
    """Fifty easy questions do not outvote twenty that the base cannot answer."""
    labelled = Labelled(spread(0.30, 0.32, 5) + spread(0.6, 0.8, 45), spread(0.31, 0.5, 20))
    assert 0.5 < fit_calibration("cosine", [0.0], [0.9], labelled).cutoff < 0.6


@given(st.lists(st.floats(-1, 1), min_size=20, max_size=30), st.lists(st.floats(-1, 1), min_size=20, max_size=30))
def test_labels_of_any_kind_still_give_points_that_rise(answerable: list[float], unanswerable: list[float]) -> None:
    fitted = fit_calibration("cosine", [0.1, 0.2], [0.3, 0.5], Labelled(answerable, unanswerable))
    assert fitted.unrelated < fitted.cutoff < fitted.typical


def test_a_base_whose_own_questions_score_no_better_than_others_refuses_them() -> None:
    fitted = fit_calibration("cosine", [0.3] * 5, [0.2] * 5)
    assert fitted.compute_probability(0.3) < CUTOFF_PROBABILITY


def test_a_base_without_a_word_to_ask_about_refuses_unrelated_questions() -> None:
    fitted = fit_calibration("cosine", spread(0.1, 0.3), [])
    assert fitted.compute_probability(0.2) < CUTOFF_PROBABILITY


def test_english_questions_lack_what_their_unrelated_ones_score_less() -> None:
    fitted = fit_english(fit_calibration("cosine", [0.5, 0.6, 0.7], [0.9]), [0.3, 0.4, 0.9])
    assert fitted.english == pytest.approx(0.2)
