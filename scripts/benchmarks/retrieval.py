"""`retrieval`: the product's own retriever over an evaluation set, stage by stage.

Over the index in memory, which searches as every local index of up to EXACT_SEARCH_MAX_CHUNKS chunks does: exactly.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.retrieval import chunk_options
from app.settings import Settings
from knowledge.evaluation.dataset import load_set
from knowledge.filters import Filter
from scripts.benchmarks.search import measure_search
from scripts.evaluation.parts import open_retriever
from scripts.evaluation.product import open_embedder
from scripts.harness.processes import measure_memory

QUESTIONS = 400
FILTERED_SHARE = 0.1


async def run_retrieval(folder: Path, questions: int, settings: Settings) -> dict[str, Any]:
    """Times of `questions` questions of the set."""
    data = load_set(folder, options=chunk_options(settings))
    texts = [question.text for question in data.answerable[:questions]]
    filters = _draw_filters({chunk.document.id for chunk in data.chunks}, len(texts))
    with open_embedder(settings) as embedder:
        await embedder.warm_up()
        before = measure_memory()  # with the model, so that what is added is the index
        async with open_retriever(settings, embedder, data.chunks, title=data.name) as retriever:
            timed = await measure_search(retriever, embedder, texts, filters=filters)
            memory = {"rss_mb_before_index": before, "rss_mb": measure_memory()}
        report = {"set": data.name, "chunks": len(data.chunks), "questions": len(texts), "embedder": embedder.name}
        return {**report, **timed, **memory}


def _draw_filters(documents: set[str], count: int) -> Sequence[Filter]:
    """A tenth of the documents for each question, at random; no two alike, so that no cache serves them."""
    generator, every = random.Random(7), sorted(documents)
    size = max(1, round(len(every) * FILTERED_SHARE))
    return [Filter(document_ids=frozenset(generator.sample(every, size))) for _ in range(count)]
