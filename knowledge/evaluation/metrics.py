"""Ranking and refusal metrics, by libraries; means and percentiles as reports give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from knowledge.calibration.fit import measure_auroc
from knowledge.errors import MissingDependency

# `{"value", "low", "high"}`: the mean over questions and its 95 % interval.
MetricValue = dict[str, float]
Item = TypeVar("Item")


def compute_mean(values: Iterable[float | None]) -> float | None:
    """Returns the mean of the values that are known, of flags the share that is true; None without any."""
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def group_by(items: Iterable[Item], key: Callable[[Item], str]) -> dict[str, list[Item]]:
    """Returns the items by what `key` says of them, in the order of the keys."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return dict(sorted(groups.items()))


def compute_percentiles(values: Sequence[float]) -> dict[str, float]:
    """Returns the median and the 95th percentile; 0 without values."""
    p50, p95 = np.percentile(values, (50, 95)) if len(values) else (0.0, 0.0)
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3)}


def check_libraries() -> None:
    """Checks that the libraries for metrics are installed.

    Raises:
        MissingDependency: If one is not.
    """
    if missing := [name for name in ("ir_measures", "scipy") if find_spec(name) is None]:
        raise MissingDependency(f"评测的指标要用 {'、'.join(missing)}：请运行 pip install -r requirements.txt")


def measure_ranking(
    relevant: Sequence[Collection[str]], ranked: Sequence[Sequence[str]]
) -> dict[str, MetricValue | None]:
    """Measures hit@1, hit@5, recall@5 and mrr@10. A question without results counts as a miss.

    Args:
        relevant: The relevant ids of each question.
        ranked: The ids found for each question, best first.

    Returns:
        The metrics; None without questions.
    """
    import ir_measures
    from ir_measures import RR, R, Success

    ranking = {"hit@1": Success @ 1, "hit@5": Success @ 5, "recall@5": R @ 5, "mrr@10": RR @ 10}
    qrels = [ir_measures.Qrel(str(row), item, 1) for row, items in enumerate(relevant) for item in items]
    run = [
        ir_measures.ScoredDoc(str(row), item, float(-rank))
        for row, items in enumerate(ranked)
        for rank, item in enumerate(items)
    ]
    values: dict[Any, dict[str, float]] = {measure: {} for measure in ranking.values()}
    for metric in ir_measures.iter_calc(list(ranking.values()), qrels, run) if run else ():
        values[metric.measure][metric.query_id] = metric.value
    return {
        name: compute_mean_with_interval([values[measure].get(str(row), 0.0) for row in range(len(relevant))])
        for name, measure in ranking.items()
    }


def compute_mean_with_interval(values: Sequence[float]) -> MetricValue | None:
    """Returns the mean and its 95 % bootstrap interval (1,000 resamples, fixed seed); None without values."""
    from scipy.stats import bootstrap  # half a second to import

    if not len(values):
        return None
    sample = np.asarray(values, dtype=float)
    low = high = float(sample.mean())
    if sample.std() > 0:
        resampled = bootstrap((sample,), np.mean, n_resamples=1000, method="percentile", rng=np.random.default_rng(0))
        low, high = (float(bound) for bound in resampled.confidence_interval)
    return {"value": round(float(sample.mean()), 4), "low": round(low, 4), "high": round(high, 4)}


def compute_auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Returns the probability that a positive scores above a negative, ties half (Mann-Whitney U); None without
    either.
    """
    if not len(positive) or not len(negative):
        return None
    return round(measure_auroc(np.asarray(positive, dtype=float), np.asarray(negative, dtype=float)), 4)


def score_labels(pairs: Sequence[tuple[Set[str], Set[str]]]) -> dict[str, Any]:
    """Scores every label that is wanted anywhere. pairs: of each item, the labels that are wanted and those given."""
    wanted = Counter(label for gold, _ in pairs for label in gold)
    given = Counter(label for _, found in pairs for label in found)
    right = Counter(label for gold, found in pairs for label in gold & found)
    per_class = {label: score_counts(right[label], given[label], wanted[label]) for label in sorted(wanted)}
    return {"macro_f1": compute_mean(scores["f1"] for scores in per_class.values()), "per_class": per_class}


def score_counts(right: int, given: int, wanted: int) -> dict[str, float]:
    """Returns precision, recall, F1 and how many are wanted."""
    return {
        "precision": round(right / max(given, 1), 4),
        "recall": round(right / max(wanted, 1), 4),
        "f1": round(2 * right / max(given + wanted, 1), 4),
        "support": wanted,
    }
