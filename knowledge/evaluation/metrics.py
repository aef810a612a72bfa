"""Ranking and refusal metrics, by libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np
from ir_measures import RR, R, Success
from scipy.stats import bootstrap, mannwhitneyu

_RANKING = {"hit@1": Success @ 1, "hit@5": Success @ 5, "recall@5": R @ 5, "mrr@10": RR @ 10}
MetricValue = dict[str, Any]
"""`{"value", "low", "high"}`: the mean over questions and its 95 % interval."""


def ranking_metrics(
    relevant: Mapping[str, frozenset[str]], ranked: Mapping[str, Sequence[str]]
) -> dict[str, MetricValue]:
    """hit@1, hit@5, recall@5 and mrr@10 over questions; both mappings are by question id.

    A question without any result counts as a miss.
    """
    qrels = [ir_measures.Qrel(qid, doc, 1) for qid, docs in relevant.items() for doc in docs]
    run = [
        ir_measures.ScoredDoc(qid, doc, float(-rank)) for qid, docs in ranked.items() for rank, doc in enumerate(docs)
    ]
    values: dict[Any, dict[str, float]] = {measure: {} for measure in _RANKING.values()}
    for metric in ir_measures.iter_calc(list(_RANKING.values()), qrels, run) if run else ():
        values[metric.measure][metric.query_id] = metric.value
    return {
        name: mean_with_interval([values[measure].get(qid, 0.0) for qid in relevant])
        for name, measure in _RANKING.items()
    }


def mean_with_interval(values: Sequence[float]) -> MetricValue:
    """Mean with its 95 % bootstrap interval (1,000 resamples, fixed seed)."""
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2 or sample.std() == 0:
        return {"value": round(mean, 4), "low": round(mean, 4), "high": round(mean, 4)}
    interval = bootstrap(
        (sample,), np.mean, n_resamples=1000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    return {"value": round(mean, 4), "low": round(float(interval.low), 4), "high": round(float(interval.high), 4)}


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """Probability that a positive scores above a negative, ties half (Mann-Whitney U); None without either."""
    if not len(positive) or not len(negative):
        return None
    statistic = mannwhitneyu(positive, negative, alternative="two-sided").statistic
    return round(float(statistic) / (len(positive) * len(negative)), 4)
