"""Whether a difference is more than chance."""

from __future__ import annotations

import numpy as np
import pytest

from knowledge.evaluation.significance import compare_best, compare_pair, sign_test


def test_the_best_of_many_that_are_no_better_is_luck_and_one_that_is_better_is_found() -> None:
    generator = np.random.default_rng(1)
    current = generator.random(200) < 0.6
    noise = generator.random((30, 200)) < 0.6
    best, difference = compare_best(current, noise)
    assert difference.value > 0.02 and not difference.is_significant
    alone = compare_pair(current, noise[best])
    assert alone.p < difference.p, "looking at thirty points is paid for"
    better = np.vstack([noise, current | (generator.random(200) < 0.5)])
    best, difference = compare_best(current, better)
    assert best == 30 and difference.is_significant and difference.low > 0


def test_what_never_differs_is_no_difference() -> None:
    same = np.ones(30, dtype=bool)
    assert (compare_pair(same, same).p, compare_pair(same, same).value) == (1.0, 0.0)


def test_a_difference_counts_once_it_is_unlikely_to_be_chance() -> None:
    assert sign_test(0, 0) == sign_test(1, 0) == sign_test(3, 3) == 1.0
    assert sign_test(10, 0) == sign_test(0, 10) == pytest.approx(2 / 2**10)
    assert sign_test(12, 4) > 0.05 > sign_test(13, 3)
