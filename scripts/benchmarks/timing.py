"""Percentiles, stages and memory: what all benchmarks report alike."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Sequence
from os import getpid
from time import perf_counter
from typing import Any

import numpy as np

from knowledge.embeddings.base import Embedder
from knowledge.filters import EVERYTHING, Filter
from knowledge.retriever import Retriever
from knowledge.types import Matrix, QuestionVectors

# Questions asked before the clock runs.
WARM_UP = 20


def percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """p50 and p95, in milliseconds."""
    p50, p95 = np.percentile(milliseconds, [50, 95])
    return {"p50": round(float(p50), 3), "p95": round(float(p95), 3)}


def ratio(part: float, whole: float) -> float:
    """`part` as a share of `whole`."""
    return round(part / whole, 4)


def rss_mb(pid: int | None = None) -> float:
    """Resident memory of a process (this one without `pid`), in MB of 10^6 bytes."""
    kilobytes = subprocess.check_output(["ps", "-o", "rss=", "-p", str(pid or getpid())], text=True)
    return round(int(kilobytes) * 1024 / 1e6, 1)


def service_rss_mb(pid: int) -> float:
    """Resident memory of a process and its children, in MB of 10^6 bytes; a page that two share counts twice."""
    lines = subprocess.check_output(["ps", "-axo", "pid=,ppid=,rss="], text=True).splitlines()
    kilobytes = sum(rss for own, parent, rss in (map(int, line.split()) for line in lines) if pid in (own, parent))
    return round(kilobytes * 1024 / 1e6, 1)


def since(started: float) -> float:
    """Milliseconds since a `perf_counter`."""
    return (perf_counter() - started) * 1000


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
        times["embedding"].append(since(started))
        vector = vector if vectors is None else vectors[number]
        started = perf_counter()
        found = await retriever.search(questions[number], vectors=QuestionVectors(vector), where=where)
        times[kind].append(since(started))
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
    return _report(times, stages)


def _report(times: dict[str, list[float]], stages: dict[str, list[float]]) -> dict[str, Any]:
    embedding, overhead = percentiles(times["embedding"]), percentiles(times["overhead"])
    report: dict[str, Any] = {
        "embedding_ms": embedding,
        "overhead_ms": overhead,
        "overhead_over_embedding": ratio(overhead["p50"], embedding["p50"]),
        "stages_ms": {stage: percentiles(values) for stage, values in stages.items() if stage != "embed"},
    }
    if times["filtered"]:
        report["filtered_overhead_ms"] = percentiles(times["filtered"])
        report["filtered_over_embedding"] = ratio(report["filtered_overhead_ms"]["p50"], embedding["p50"])
    return report
