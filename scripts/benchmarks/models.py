"""`models`: how fast BGE's large models are on this machine, through the product's own providers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Coroutine
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

from knowledge.embeddings.registry import EmbedderOptions, get_embedder
from knowledge.onnx_checkpoint import Runtime
from knowledge.rerankers.base import Query
from knowledge.rerankers.registry import RerankerOptions, get_reranker
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from scripts.benchmarks.synthetic import Synthetic, build_synthetic
from scripts.harness.processes import measure_memory
from scripts.harness.timing import compute_percentiles, measure_since

ROUNDS = 10
# What RERANK_CANDIDATES is by default.
CANDIDATES = 20


async def run_models(rounds: int, *, runtime: Runtime, folder: Path | None, tiny: bool) -> dict[str, Any]:
    """Times and memory of loading, of a question, of passages of 300 characters, and of re-ranking 20 candidates.

    folder: where the checkpoints are written, or are from a run before; tiny: only a rehearsal.
    """
    with TemporaryDirectory() as temporary:
        places = await asyncio.to_thread(_write_checkpoints, folder or Path(temporary), runtime, tiny)
        base = build_synthetic(CANDIDATES, rounds, Analyzer())
        passages = [item.chunk.indexed_text for item in base.change.added]
        report: dict[str, Any] = {"tiny": tiny, "runtime": runtime, "rss_mb_before": measure_memory()}
        options = EmbedderOptions(bge_model=str(places[0]), runtime=runtime)
        with closing(get_embedder("bge", options=options)) as embedder:
            report |= await _measure_loading("bge", embedder.warm_up())
            queries, processors = [], process_time()
            for question in base.questions:
                started = perf_counter()
                await embedder.embed_question(question)
                queries.append(measure_since(started))
            report["bge_query_cpu_ms"] = round((process_time() - processors) * 1000 / rounds, 1)
            started, processors = perf_counter(), process_time()
            await embedder.embed_passages(passages)
            seconds = measure_since(started) / 1000
            report["bge_passage_cpu_ms"] = round((process_time() - processors) * 1000 / len(passages), 1)
            report |= {"bge_query_ms": compute_percentiles(queries)}
            report |= {"bge_passages_per_second": round(len(passages) / seconds, 2), "rss_mb_bge": measure_memory()}
        report |= await _measure_reranking(RerankerOptions(str(places[1]), CANDIDATES, runtime=runtime), base)
        return report | {"rss_mb_both": measure_memory(), "expect": _describe_expectations(report)}


def _write_checkpoints(folder: Path, runtime: Runtime, tiny: bool) -> tuple[Path, Path]:
    """In a process of its own: what that imports and keeps is not to be measured."""
    switches = [*["--tiny"] * tiny, *["--export"] * (runtime != "torch")]
    command = [sys.executable, "-m", "scripts.benchmarks.checkpoints", str(folder.resolve()), *switches]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[2])
    return folder / "embedder", folder / "reranker"


async def _measure_loading(name: str, loading: Coroutine[Any, Any, Any]) -> dict[str, float]:
    started, processors = perf_counter(), process_time()
    await loading
    return {
        f"{name}_load_ms": round(measure_since(started), 1),
        f"{name}_load_cpu_ms": round((process_time() - processors) * 1000, 1),
        f"rss_mb_{name}_loaded": measure_memory(),
    }


async def _measure_reranking(options: RerankerOptions, base: Synthetic) -> dict[str, Any]:
    index = MemoryIndex()
    await index.apply(base.change)
    fused = {item.chunk.id: 1 / (61 + rank) for rank, item in enumerate(base.change.added)}
    times = []
    with closing(get_reranker("bge", options)) as reranker:
        first = dict(list(fused.items())[:1])
        report: dict[str, Any] = {}
        report |= await _measure_loading(
            "reranker", reranker.score(Query(base.questions[0], (), None), index.get_snapshot(), first)
        )
        processors = process_time()
        for question in base.questions:
            started = perf_counter()
            await reranker.score(Query(question, (), None), index.get_snapshot(), fused)
            times.append(measure_since(started))
        processors = (process_time() - processors) * 1000 / len(base.questions)
    await index.close()
    report |= {"rerank_candidates": CANDIDATES, "rerank_ms": compute_percentiles(times)}
    return report | {"rerank_cpu_ms": round(processors, 1)}


def _describe_expectations(report: dict[str, Any]) -> str:
    """What the figures mean for a customer and for an import."""
    query, rerank = report["bge_query_ms"]["p50"], report["rerank_ms"]["p50"]
    minutes = 10_000 / report["bge_passages_per_second"] / 60
    return (
        f"在这台机器上，一个问题的 BGE 向量约 {query:.0f} 毫秒，重排 {CANDIDATES} 个候选约 {rerank / 1000:.1f} 秒，"
        f"导入 10,000 个片段约 {minutes:.0f} 分钟"
    )
