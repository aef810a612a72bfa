"""`retrieval`: the product's own retriever over an evaluation set, stage by stage.

Over the index in memory, which searches as every local index of up to EXACT_SEARCH_MAX_CHUNKS chunks does: exactly.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from app.embeddings.repository_local import SqliteEmbeddingCache
from app.progress import ProgressBar
from app.retrieval import build_embedder_options, build_reranker_options, build_retrieval_options, chunk_options
from app.settings import Settings
from app.wiring.knowledge import get_embeddings_path
from knowledge.embeddings.registry import get_embedder
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.runner import build_retriever
from knowledge.filters import Filter
from knowledge.rerankers.registry import get_reranker
from knowledge.text import Analyzer
from scripts.benchmarks.search import measure_search
from scripts.harness.processes import measure_memory

QUESTIONS = 400
FILTERED_SHARE = 0.1


async def run_retrieval(folder: Path, questions: int, settings: Settings) -> dict[str, Any]:
    """Times of `questions` questions of the set."""
    data = load_set(folder, options=chunk_options(settings))
    texts = [question.text for question in data.answerable[:questions]]
    filters = _draw_filters({chunk.document.id for chunk in data.chunks}, len(texts))
    analyzer = Analyzer()
    with (
        closing(SqliteEmbeddingCache(get_embeddings_path(settings))) as cache,
        closing(get_embedder(settings.embedder, cache, build_embedder_options(settings))) as embedder,
        ProgressBar(len(data.chunks), f"{data.name} 向量", "段") as embedded,
    ):
        await embedder.warm_up()
        before = measure_memory()  # with the model, so that what is added is the index
        async with build_retriever(
            data.chunks,
            embedder,
            analyzer,
            get_reranker(settings.reranker, build_reranker_options(settings)),
            build_retrieval_options(settings),
            embedded.update,
        ) as retriever:
            timed = await measure_search(retriever, embedder, texts, filters=filters)
            memory = {"rss_mb_before_index": before, "rss_mb": measure_memory()}
        report = {"set": data.name, "chunks": len(data.chunks), "questions": len(texts), "embedder": embedder.name}
        return {**report, **timed, **memory}


def _draw_filters(documents: set[str], count: int) -> Sequence[Filter]:
    """A tenth of the documents for each question, at random; no two alike, so that no cache serves them."""
    generator, every = random.Random(7), sorted(documents)
    size = max(1, round(len(every) * FILTERED_SHARE))
    return [Filter(document_ids=frozenset(generator.sample(every, size))) for _ in range(count)]
