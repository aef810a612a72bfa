"""`models`: how fast BGE's large models are on this machine, through the product's own providers."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from knowledge.embeddings.registry import EmbedderOptions, get_embedder
from knowledge.rerankers.base import Query
from knowledge.rerankers.registry import RerankerOptions, get_reranker
from knowledge.stores.memory import MemoryIndex
from knowledge.text import Analyzer
from scripts.benchmarks.checkpoints import write_embedder, write_reranker
from scripts.benchmarks.synthetic import synthetic
from scripts.benchmarks.timing import percentiles, rss_mb, since

ROUNDS = 10
CANDIDATES = 20
"""What RERANK_CANDIDATES is by default."""


async def run(rounds: int, *, tiny: bool) -> dict[str, Any]:
    """Times of a question, of passages of 300 characters, and of re-ranking 20 candidates. tiny: only a rehearsal."""
    with TemporaryDirectory() as folder:
        places = await asyncio.to_thread(_write, Path(folder), tiny)
        base = synthetic(CANDIDATES, rounds, Analyzer())
        passages = [item.chunk.indexed_text for item in base.change.added]
        report: dict[str, Any] = {"tiny": tiny, "rss_mb_before": rss_mb()}
        with closing(get_embedder("bge", options=EmbedderOptions(bge_model=str(places[0])))) as embedder:
            started = perf_counter()
            await embedder.warm_up()
            report["bge_load_ms"] = round(since(started), 1)
            queries = []
            for question in base.questions:
                started = perf_counter()
                await embedder.query(question)
                queries.append(since(started))
            started = perf_counter()
            await embedder.passages(passages)
            seconds = since(started) / 1000
        report |= {"bge_query_ms": percentiles(queries), "bge_passages_per_second": round(len(passages) / seconds, 2)}
        report |= {"rss_mb_bge": rss_mb(), "rerank_candidates": CANDIDATES}
        report["rerank_ms"] = percentiles(await _rerank(places[1], base.change, base.questions))
        return report | {"rss_mb_both": rss_mb(), "expect": _expect(report)}


def _write(folder: Path, tiny: bool) -> tuple[Path, Path]:
    return write_embedder(folder / "embedder", tiny=tiny), write_reranker(folder / "reranker", tiny=tiny)


async def _rerank(model: Path, change: Any, questions: tuple[str, ...]) -> list[float]:
    index = MemoryIndex()
    await index.apply(change)
    fused = {item.chunk.id: 1 / (61 + rank) for rank, item in enumerate(change.added)}
    times = []
    with closing(get_reranker("bge", RerankerOptions(str(model), CANDIDATES))) as reranker:
        await reranker.score(Query(questions[0], (), None), index.snapshot(), fused)  # loads
        for question in questions:
            started = perf_counter()
            await reranker.score(Query(question, (), None), index.snapshot(), fused)
            times.append(since(started))
    await index.close()
    return times


def _expect(report: dict[str, Any]) -> str:
    """What the figures mean for a customer and for an import."""
    query, rerank = report["bge_query_ms"]["p50"], report["rerank_ms"]["p50"]
    minutes = 10_000 / report["bge_passages_per_second"] / 60
    return (
        f"在这台机器上，一个问题的 BGE 向量约 {query:.0f} 毫秒，重排 {CANDIDATES} 个候选约 {rerank / 1000:.1f} 秒，"
        f"导入 10,000 个片段约 {minutes:.0f} 分钟"
    )
