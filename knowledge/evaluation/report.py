"""Computes the figures of a report from results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from knowledge.evaluation.dataset import EvalSet, is_left_open, is_off_topic
from knowledge.evaluation.metrics import (
    MetricValue,
    compute_auroc,
    compute_mean,
    compute_mean_with_interval,
    group_by,
    measure_ranking,
)
from knowledge.evaluation.runner import BASELINES, QuestionResult

# Fragments that an answer is made from, at most: the default of RERANK_TOP_K.
CONTEXT_FRAGMENTS = 5


def build_set_report(data: EvalSet, results: Sequence[QuestionResult], *, baselines: bool = False) -> dict[str, Any]:
    """Returns all figures of one set; those that cannot be computed are None."""
    answerable = [result for result in results if result.question.answerable]
    unanswerable = [result for result in results if is_left_open(result.question)]
    out_of_domain = [result for result in results if is_off_topic(result.question)]
    report: dict[str, Any] = {"set": data.name, "chunks": len(data.chunks), "questions": len(answerable)}
    report |= _measure_ranking(data, answerable)
    report["context_recall"] = _measure_context_recall(answerable)
    report["per_category"] = _group_by_category(data, answerable)
    get_probability = attrgetter("probability")
    report["auroc_unanswerable"] = _measure_auroc(answerable, unanswerable, get_probability)
    report["auroc_out_of_domain"] = _measure_auroc(answerable, out_of_domain, get_probability)
    report["answered_rate"] = _measure_answered(answerable)
    report["false_answer_unanswerable"] = _measure_answered(unanswerable)
    report["false_answer_out_of_domain"] = _measure_answered(out_of_domain)
    if baselines:
        report["baselines"] = {
            name: _measure_baseline(data, name, answerable, unanswerable, out_of_domain) for name in BASELINES
        }
    return report


def contains_text(text: str, part: str) -> bool:
    """Returns whether `part` stands in `text`, ignoring white space and case."""
    return _remove_space(part) in _remove_space(text)


def _remove_space(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()


def _measure_ranking(data: EvalSet, results: Sequence[QuestionResult]) -> dict[str, MetricValue | None]:
    ranked = [result.rank_sources(data.source_of) for result in results]
    return measure_ranking([result.question.documents for result in results], ranked)


def _measure_baseline(
    data: EvalSet,
    name: str,
    answerable: Sequence[QuestionResult],
    unanswerable: Sequence[QuestionResult],
    other: Sequence[QuestionResult],
) -> dict[str, Any]:
    """Measures one recall by itself: its ranking, and how well its best raw score tells answerable questions from
    others.
    """

    def get_best_score(result: QuestionResult) -> float:
        return result.baselines[name][0].score if result.baselines[name] else 0.0

    ranked = [result.rank_baseline_sources(name, data.source_of) for result in answerable]
    return {
        **measure_ranking([result.question.documents for result in answerable], ranked),
        "auroc_unanswerable": _measure_auroc(answerable, unanswerable, get_best_score),
        "auroc_out_of_domain": _measure_auroc(answerable, other, get_best_score),
    }


def _group_by_category(data: EvalSet, results: Sequence[QuestionResult]) -> dict[str, Any] | None:
    groups = group_by(results, attrgetter("question.category"))
    return {
        name: {"questions": len(group), "answered_rate": _measure_answered(group), **_measure_ranking(data, group)}
        for name, group in groups.items()
        if name
    } or None


def _measure_context_recall(results: Sequence[QuestionResult]) -> MetricValue | None:
    """Returns the share of the expected keywords that stand in the best fragments."""
    shares = []
    for result in results:
        if keywords := result.question.expected_keywords:
            fragments = result.retrieval.candidates[:CONTEXT_FRAGMENTS]
            context = "\n".join(candidate.chunk.indexed_text for candidate in fragments)
            shares.append(sum(contains_text(context, keyword) for keyword in keywords) / len(keywords))
    return compute_mean_with_interval(shares)


def _measure_auroc(
    positive: Sequence[QuestionResult], negative: Sequence[QuestionResult], score: Callable[[QuestionResult], float]
) -> float | None:
    return compute_auroc([score(result) for result in positive], [score(result) for result in negative])


def _measure_answered(results: Sequence[QuestionResult]) -> float | None:
    return compute_mean(result.is_answered for result in results)
