from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import InvalidConfiguration
from knowledge.evaluation.cutoffs import Cutoff, Probabilities, choose_cutoff, list_cutoffs

SAMPLE = Probabilities(answerable=[0.9, 0.8, 0.7, 0.3], open_ones=[0.1, 0.2, 0.4, 0.75])
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=20)


def at(threshold: float) -> Cutoff:
    return next(rate for rate in list_cutoffs(SAMPLE) if rate.threshold == threshold)


def test_rates_are_shares_of_each_kind_of_question() -> None:
    assert at(0.0) == Cutoff(0.0, 0.0, 1.0)
    assert at(0.5) == Cutoff(0.5, 0.25, 0.25)
    assert at(1.0) == Cutoff(1.0, 1.0, 0.0)


def test_a_probability_on_the_cutoff_is_answered_as_the_gate_does() -> None:
    assert at(0.9).false_refusal == 0.75
    assert at(0.75).false_answer == 0.25


@given(SHARES, SHARES)
def test_a_higher_cutoff_refuses_more_and_answers_less(answerable: list[float], open_ones: list[float]) -> None:
    rates = list_cutoffs(Probabilities(answerable, open_ones))
    assert [rate.false_refusal for rate in rates] == sorted(rate.false_refusal for rate in rates)
    assert [rate.false_answer for rate in rates] == sorted((rate.false_answer for rate in rates), reverse=True)


def test_the_fewest_refusals_within_the_limit_are_recommended_and_of_equals_the_highest() -> None:
    best = choose_cutoff(list_cutoffs(SAMPLE), max_false_answer=0.25)
    assert (best.cutoff, best.met) == (Cutoff(0.7, 0.25, 0.25), True)
    assert choose_cutoff(list_cutoffs(SAMPLE), max_false_answer=0.0).cutoff == Cutoff(0.8, 0.5, 0.0)
    assert choose_cutoff(list_cutoffs(SAMPLE), max_false_answer=1.0).cutoff == Cutoff(0.3, 0.0, 0.5)


def test_without_a_limit_the_lowest_mean_of_both_rates_is_recommended() -> None:
    assert choose_cutoff(list_cutoffs(SAMPLE)).cutoff == Cutoff(0.8, 0.5, 0.0)
    assert choose_cutoff(list_cutoffs(Probabilities([0.9], [0.2]))).cutoff == Cutoff(0.9, 0.0, 0.0)


def test_a_limit_that_no_cutoff_keeps_is_said() -> None:
    best = choose_cutoff(list_cutoffs(Probabilities([0.5], [1.0, 0.2])), max_false_answer=0.1)
    assert (best.cutoff, best.met) == (Cutoff(0.21, 0.0, 0.5), False)


@pytest.mark.parametrize("sample", [Probabilities([], [0.1]), Probabilities([0.1], [])])
def test_one_kind_of_question_alone_tells_nothing(sample: Probabilities) -> None:
    with pytest.raises(InvalidConfiguration, match="--out-of-domain"):
        list_cutoffs(sample)
