"""How long searches take, stage by stage, beside the embedding of their questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from knowledge.embeddings.base import Embedder
from knowledge.filters import EVERYTHING, Filter
from knowledge.retriever import Retriever
from knowledge.types import Matrix, QuestionVectors
from scripts.harness.timing import compute_percentiles, compute_ratio, measure_since

# Questions asked before the clock runs.
WARM_UP = 20


async def measure_search(
    retriever: Retriever,
    embedder: Embedder,
    questions: Sequence[str],
    vectors: Matrix | None = None,
    filters: Sequence[Filter] = (),
) -> dict[str, Any]:
    """Every question embedded, then searched, and another one that is searched with a filter: in turn, so that all
    meet the same machine, and the caches that an embedding leaves behind.

    vectors: what to search with instead of the embedding just made; filters: one a question.
    """
    times: dict[str, list[float]] = defaultdict(list)
    stages: dict[str, list[float]] = defaultdict(list)

    async def search(number: int, where: Filter, kind: str) -> None:
        started = perf_counter()
        vector = await embedder.embed_question(questions[number])
        times["embedding"].append(measure_since(started))
        vector = vector if vectors is None else vectors[number]
        started = perf_counter()
        found = await retriever.search(questions[number], vectors=QuestionVectors(vector), where=where)
        times[kind].append(measure_since(started))
        if kind == "overhead":
            for stage, value in found.timings_ms.items():
                stages[stage].append(value)

    for number in range(min(WARM_UP, len(questions))):
        await search(number, EVERYTHING, "warm-up")
    times.clear()
    for number in range(len(questions)):
        await search(number, EVERYTHING, "overhead")
        if filters:
            other = (number + len(questions) // 2) % len(questions)
            await search(other, filters[other], "filtered")
    return _build_report(times, stages)


def _build_report(times: dict[str, list[float]], stages: dict[str, list[float]]) -> dict[str, Any]:
    embedding, overhead = compute_percentiles(times["embedding"]), compute_percentiles(times["overhead"])
    report: dict[str, Any] = {
        "embedding_ms": embedding,
        "overhead_ms": overhead,
        "overhead_over_embedding": compute_ratio(overhead["p50"], embedding["p50"]),
        "stages_ms": {stage: compute_percentiles(values) for stage, values in stages.items() if stage != "embed"},
    }
    if times["filtered"]:
        report["filtered_overhead_ms"] = compute_percentiles(times["filtered"])
        report["filtered_over_embedding"] = compute_ratio(report["filtered_overhead_ms"]["p50"], embedding["p50"])
    return report
