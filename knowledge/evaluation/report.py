"""From results to the figures of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from knowledge.evaluation.dataset import EvalSet
from knowledge.evaluation.metrics import MetricValue, auroc, mean_with_interval, ranking_metrics
from knowledge.evaluation.runner import BASELINES, QuestionResult

CONTEXT_FRAGMENTS = 5
"""Fragments that an answer is made from, at most: the default of RERANK_TOP_K."""


def set_report(
    data: EvalSet,
    answerable: Sequence[QuestionResult],
    unanswerable: Sequence[QuestionResult],
    out_of_domain: Sequence[QuestionResult],
    *,
    baselines: bool = False,
) -> dict[str, Any]:
    """All figures of one set; absent ones are None."""
    report: dict[str, Any] = {"set": data.name, "chunks": len(data.chunks), "questions": len(answerable)}
    report |= _ranking(data, answerable)
    report["context_recall"] = _context_recall(answerable)
    report["per_category"] = _per_category(data, answerable)
    report["auroc_unanswerable"] = _auroc(answerable, unanswerable, _probability)
    report["auroc_out_of_domain"] = _auroc(answerable, out_of_domain, _probability)
    report["answered_rate"] = _answered(answerable)
    report["false_answer_unanswerable"] = _answered(unanswerable)
    report["false_answer_out_of_domain"] = _answered(out_of_domain)
    if baselines:
        report["baselines"] = {
            name: _baseline(data, name, answerable, unanswerable, out_of_domain) for name in BASELINES
        }
    return report


def contains(text: str, part: str) -> bool:
    """Whether `part` stands in `text`, white space and case aside."""
    return _squeezed(part) in _squeezed(text)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()


def share(values: Sequence[float]) -> float | None:
    """Their mean, None without any."""
    return round(sum(values) / len(values), 4) if values else None


def _ranking(data: EvalSet, results: Sequence[QuestionResult]) -> dict[str, MetricValue | None]:
    ranked = [result.ranked(data.source_of) for result in results]
    return ranking_metrics([result.question.relevant for result in results], ranked)


def _baseline(
    data: EvalSet,
    name: str,
    answerable: Sequence[QuestionResult],
    unanswerable: Sequence[QuestionResult],
    other: Sequence[QuestionResult],
) -> dict[str, Any]:
    """One recall by itself: its ranking, and how well its best raw score tells answerable from not."""

    def best(result: QuestionResult) -> float:
        return result.baselines[name][0].score if result.baselines[name] else 0.0

    ranked = [result.baseline_ranked(name, data.source_of) for result in answerable]
    return {
        **ranking_metrics([result.question.relevant for result in answerable], ranked),
        "auroc_unanswerable": _auroc(answerable, unanswerable, best),
        "auroc_out_of_domain": _auroc(answerable, other, best),
    }


def _per_category(data: EvalSet, results: Sequence[QuestionResult]) -> dict[str, Any] | None:
    categories = sorted({result.question.category for result in results} - {""})
    groups = {name: [result for result in results if result.question.category == name] for name in categories}
    return {
        name: {"questions": len(group), "answered_rate": _answered(group), **_ranking(data, group)}
        for name, group in groups.items()
    } or None


def _context_recall(results: Sequence[QuestionResult]) -> MetricValue | None:
    """Share of the expected keywords that stand in the best fragments."""
    shares = []
    for result in results:
        if keywords := result.question.expected_keywords:
            fragments = result.retrieval.candidates[:CONTEXT_FRAGMENTS]
            context = "\n".join(candidate.chunk.indexed_text for candidate in fragments)
            shares.append(sum(contains(context, keyword) for keyword in keywords) / len(keywords))
    return mean_with_interval(shares)


def _probability(result: QuestionResult) -> float:
    return result.probability


def _auroc(
    positive: Sequence[QuestionResult], negative: Sequence[QuestionResult], score: Callable[[QuestionResult], float]
) -> float | None:
    return auroc([score(result) for result in positive], [score(result) for result in negative])


def _answered(results: Sequence[QuestionResult]) -> float | None:
    return share([result.answered for result in results])
