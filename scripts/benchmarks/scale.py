"""`scale`: the product's own store and retriever over synthetic bases; a latency counts only with its recall."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from app.retrieval import build_embedder_options, build_retrieval_options
from app.settings import Settings
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.hash import HashEmbedder
from knowledge.embeddings.registry import get_embedder
from knowledge.index import Index, Snapshot
from knowledge.memory import release_memory
from knowledge.probability import CalibrationMap
from knowledge.retriever import Retriever
from knowledge.stores.registry import get_index
from knowledge.text import Analyzer
from knowledge.types import IndexChange, IndexedChunk
from scripts.benchmarks.search import measure_search
from scripts.benchmarks.synthetic import DIMENSION, Synthetic, build_synthetic
from scripts.harness.processes import measure_memory
from scripts.harness.timing import compute_ratio, measure_since

QUESTIONS = 300
RECALL_AT = 25
LOWEST_RECALL = 0.95
# Chunks that one document's change adds and removes.
CHANGED = 20


class _Space(HashEmbedder):
    """Names the vector space of the synthetic vectors to the store."""

    name = "synthetic"
    dimension = DIMENSION


def run_scale(sizes: Sequence[int], questions: int, stores: Sequence[str], settings: Settings) -> dict[str, Any]:
    """One report a size and store. Several get a process each, so that each one's memory is its own."""
    if len(sizes) == len(stores) == 1:
        return {"scale": [asyncio.run(_measure_size(sizes[0], questions, stores[0], settings))]}
    reports: list[Any] = []
    with TemporaryDirectory() as folder:
        for store, size in product(stores, sizes):
            path = Path(folder, "report.json")
            script = Path(__file__).resolve().parents[1] / "benchmark.py"
            options = ["--chunks", str(size), "--store", store, "--questions", str(questions), "--json", str(path)]
            subprocess.run([sys.executable, str(script), "scale", *options], check=True, stdout=subprocess.DEVNULL)
            reports += json.loads(path.read_text("utf-8"))["scale"]
    return {"scale": reports} | _compute_growth([report for report in reports if report["store"] == stores[0]])


def _compute_growth(reports: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Memory that 10,000 more chunks cost, between the smallest and the largest base."""
    low, high = reports[0], reports[-1]
    if low["chunks"] == high["chunks"]:
        return {}
    growth = (high["rss_mb"] - low["rss_mb"]) / (high["chunks"] - low["chunks"])
    return {"rss_mb_per_10000_chunks": round(growth * 10_000, 1)}


async def _measure_size(size: int, questions: int, store: str, settings: Settings) -> dict[str, Any]:
    analyzer = Analyzer()
    with (
        TemporaryDirectory() as folder,
        closing(get_embedder(settings.embedder, options=build_embedder_options(settings))) as embedder,
        closing(_Space()) as space,
    ):
        await embedder.warm_up()
        base = build_synthetic(size, questions, analyzer)
        index = get_index(store, Path(folder), "benchmark", space)
        try:
            started = perf_counter()
            await index.apply(base.change)
            built = measure_since(started) / 1000
            changed = await _change_one_document(index, base)
            questions_of, vectors, filters = base.questions, base.vectors, base.filters
            del base  # the product does not keep the change either
            # what was freed goes back to the system, so that the figure is what the index itself takes
            gc.collect()
            release_memory()
            resident = measure_memory()
            retriever = _build_retriever(index, embedder, analyzer, settings)
            timed = await measure_search(retriever, embedder, questions_of, vectors, filters)
            recall = await _compute_recall(index.get_snapshot(), build_synthetic(size, questions, analyzer))
            report: dict[str, Any] = {"chunks": size, "store": store, "embedder": embedder.name}
            report |= {f"recall@{RECALL_AT}": recall, "counts": recall >= LOWEST_RECALL, **timed}
            return report | {"build_s": round(built, 2), "change_s": changed, "rss_mb": resident}
        finally:
            await index.close()


def _build_retriever(index: Index, embedder: Embedder, analyzer: Analyzer, settings: Settings) -> Retriever:
    """Calibrated by hand: no question here has an answer, and the gate costs the same whatever it decides."""
    retriever = Retriever(index, embedder, analyzer, options=build_retrieval_options(settings))
    retriever.set_calibration(CalibrationMap(retriever.scorers.reranker.kind, 0.5, 0.7, 0.9))
    return retriever


async def _change_one_document(index: Index, base: Synthetic) -> float:
    """Seconds until a change of a few chunks answers."""
    old = base.change.added[:CHANGED]
    new = tuple(IndexedChunk(item.chunk, item.vector, item.terms) for item in old)
    started = perf_counter()
    await index.apply(IndexChange(2, new, frozenset(item.chunk.id for item in old)))
    return round(measure_since(started) / 1000, 2)


async def _compute_recall(snapshot: Snapshot, base: Synthetic) -> float:
    """Share of the exact nearest neighbours that dense recall finds, over all questions."""
    ids = [item.chunk.id for item in base.change.added]
    matrix, found = np.stack([item.vector for item in base.change.added]), 0
    count = min(RECALL_AT, len(ids))
    for vector in base.vectors:
        exact = {ids[row] for row in np.argpartition(-(matrix @ vector), count - 1)[:count]}
        found += len(exact & {hit.chunk_id for hit in await snapshot.search_dense(vector, count)})
    return compute_ratio(found, count * len(base.vectors))
