from __future__ import annotations

import pytest

from knowledge.evaluation.metrics import compute_auroc, compute_mean_with_interval, measure_ranking

A = frozenset({"a"})


def values(relevant: list[frozenset[str]], ranked: list[list[str]]) -> dict[str, float]:
    found = measure_ranking(relevant, ranked)
    return {name: metric["value"] for name, metric in found.items() if metric is not None}


def test_ranking_metrics_equal_those_computed_by_hand() -> None:
    others = [f"x{place}" for place in range(10)]
    ranked = [
        ["a", *others],
        ["x0", "x1", "a"],
        [*others[:5], "a"],
        [*others, "a"],
        ["x0", "b", "x1", "x2", "a"],
        ["b", "x0"],
    ]
    both = frozenset({"a", "b"})
    assert values([A, A, A, A, both, both], ranked) == {
        "hit@1": round(2 / 6, 4),
        "hit@5": round(4 / 6, 4),
        "recall@5": round((1 + 1 + 0 + 0 + 1 + 0.5) / 6, 4),
        "mrr@10": round((1 + 1 / 3 + 1 / 6 + 0 + 1 / 2 + 1) / 6, 4),
    }


def test_a_question_without_results_counts_as_a_miss() -> None:
    assert values([A, A], [["a"], []]) == {"hit@1": 0.5, "hit@5": 0.5, "recall@5": 0.5, "mrr@10": 0.5}
    assert values([A], [[]]) == {"hit@1": 0.0, "hit@5": 0.0, "recall@5": 0.0, "mrr@10": 0.0}


def test_without_questions_there_is_no_value() -> None:
    assert measure_ranking([], []) == {"hit@1": None, "hit@5": None, "recall@5": None, "mrr@10": None}
    assert compute_mean_with_interval([]) is None


@pytest.mark.parametrize("sample", [[0, 0, 0, 1], [1, 0] * 50, [0.1, 0.5, 0.9, 0.4], [1, *[0] * 99]])
def test_the_interval_contains_the_mean(sample: list[float]) -> None:
    metric = compute_mean_with_interval(sample)
    assert metric is not None
    assert metric["value"] == round(sum(sample) / len(sample), 4)
    assert metric["low"] <= metric["value"] <= metric["high"]
    assert metric["low"] < metric["high"]


def test_the_interval_of_a_proportion_is_the_one_known_from_theory_and_the_same_every_time() -> None:
    metric = compute_mean_with_interval([1, 0] * 200)
    assert metric is not None
    assert metric == compute_mean_with_interval([1, 0] * 200)
    assert metric["low"] == pytest.approx(0.5 - 1.96 * 0.025, abs=0.01)
    assert metric["high"] == pytest.approx(0.5 + 1.96 * 0.025, abs=0.01)


def test_values_that_are_all_equal_have_an_interval_of_no_width() -> None:
    assert compute_mean_with_interval([1, 1, 1]) == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert compute_mean_with_interval([0.25]) == {"value": 0.25, "low": 0.25, "high": 0.25}


def test_auroc_counts_pairs_and_ties_half() -> None:
    assert compute_auroc([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert compute_auroc([0.1], [0.9]) == 0.0
    assert compute_auroc([0.5, 0.9], [0.5, 0.1]) == round((0.5 + 1 + 1 + 1) / 4, 4)
    assert compute_auroc([0.5] * 3, [0.5] * 4) == 0.5


def test_auroc_of_one_side_alone_is_none() -> None:
    assert compute_auroc([], [0.1]) is None
    assert compute_auroc([0.1], []) is None
