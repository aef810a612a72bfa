"""From results to the figures of a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from knowledge.evaluation.dataset import EvalSet
from knowledge.evaluation.metrics import auroc, mean_with_interval, ranking_metrics
from knowledge.evaluation.runner import Result
from knowledge.types import Candidate

BASELINES: Mapping[str, Callable[[Candidate], float]] = {
    "rrf": lambda candidate: candidate.fused,
    "dense": lambda candidate: -(candidate.vector_rank or 10_000),
    "bm25": lambda candidate: -(candidate.keyword_rank or 10_000),
}
SINGLE_SCORES: Mapping[str, Callable[[Candidate], float]] = {
    "dense": lambda candidate: candidate.cosine,
    "bm25": lambda candidate: candidate.bm25,
}


def set_report(
    data: EvalSet,
    answerable: Sequence[Result],
    unanswerable: Sequence[Result],
    out_of_domain: Sequence[Result],
    *,
    baselines: bool = False,
) -> dict[str, Any]:
    """All figures of one set; absent ones are None."""
    report: dict[str, Any] = {"set": data.name, "chunks": len(data.chunks), "questions": len(answerable)}
    report |= _ranking(data, answerable, None)
    report["context_recall"] = _context_recall(answerable)
    report["per_category"] = _per_category(data, answerable)
    report["auroc_unanswerable"] = _auroc(answerable, unanswerable)
    report["auroc_out_of_domain"] = _auroc(answerable, out_of_domain)
    report["answered_rate"] = _answered(answerable)
    report["false_answer_unanswerable"] = _answered(unanswerable)
    report["false_answer_out_of_domain"] = _answered(out_of_domain)
    if baselines:
        report["baselines"] = {name: _ranking(data, answerable, key) for name, key in BASELINES.items()}
        for name, key in SINGLE_SCORES.items():
            report["baselines"][name]["auroc_unanswerable"] = single_auroc(answerable, unanswerable, key)
            report["baselines"][name]["auroc_out_of_domain"] = single_auroc(answerable, out_of_domain, key)
    return report


def single_auroc(
    positive: Sequence[Result], negative: Sequence[Result], key: Callable[[Candidate], float]
) -> float | None:
    """How well the best value of one raw score tells answerable from not."""
    best = [
        [max((key(candidate) for candidate in result.retrieval.candidates), default=0.0) for result in results]
        for results in (positive, negative)
    ]
    return auroc(*best)


def contains(text: str, part: str) -> bool:
    """Whether `part` stands in `text`, white space and case aside."""
    return _squeezed(part) in _squeezed(text)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).lower()


def _ranking(data: EvalSet, results: Sequence[Result], key: Callable[[Candidate], float] | None) -> dict[str, Any]:
    relevant = {result.question.id: result.question.relevant for result in results}
    return ranking_metrics(relevant, {result.question.id: result.ranked(data.source_of, key) for result in results})


def _per_category(data: EvalSet, results: Sequence[Result]) -> dict[str, Any] | None:
    categories = sorted({result.question.category for result in results} - {""})
    groups = {name: [result for result in results if result.question.category == name] for name in categories}
    return {
        name: {"questions": len(group), "answered_rate": _answered(group)}
        | {metric: value["value"] for metric, value in _ranking(data, group, None).items()}
        for name, group in groups.items()
    } or None


def _context_recall(results: Sequence[Result]) -> dict[str, Any] | None:
    """Share of the expected keywords that stand in the five best fragments."""
    labelled = [result for result in results if result.question.expected_keywords]
    if not labelled:
        return None
    shares = []
    for result in labelled:
        context = "\n".join(candidate.chunk.indexed_text for candidate in result.retrieval.candidates[:5])
        keywords = result.question.expected_keywords
        shares.append(sum(contains(context, keyword) for keyword in keywords) / len(keywords))
    return mean_with_interval(shares)


def _auroc(positive: Sequence[Result], negative: Sequence[Result]) -> float | None:
    return auroc([result.probability for result in positive], [result.probability for result in negative])


def _answered(results: Sequence[Result]) -> float | None:
    return round(sum(result.answered for result in results) / len(results), 4) if results else None
