"""A question finds the same passage however it is asked: `scripts/evaluate.py --metamorphic` says so of all of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from app.embeddings import shipped_vectors
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.retrieval import build_embedder_options
from app.settings import Settings
from knowledge.embeddings.registry import get_embedder
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.runner import build_retriever
from knowledge.text import Analyzer
from scripts.evaluation.metamorphic import MANNERS, measure_manners
from tests.acceptance import part

SAME = 0.95
# Of the 267 questions of the samples one in so many, 27.
EVERY = part(10, 1)
SAMPLES = Path(__file__).parents[2] / "knowledge" / "samples"


@pytest.mark.acceptance
@pytest.mark.timeout(part(240, 1200))
async def test_the_best_source_stays_the_same_in_any_manner(
    tmp_path: Path, embedding_cache: SqliteEmbeddingCache
) -> None:
    """Seconds; minutes while vectors have to be made."""
    options = build_embedder_options(Settings(data_dir=tmp_path, embedder="e5", _env_file=None))
    data = load_set(SAMPLES)
    with closing(get_embedder("e5", embedding_cache, options)) as embedder:
        shipped_vectors.fill(embedding_cache, embedder)
        async with build_retriever(data.chunks, embedder, Analyzer()) as retriever:
            report = await measure_manners(retriever, data, EVERY)
    assert report.keys() == MANNERS.keys()
    assert {name: figures for name, figures in report.items() if figures["same"] < SAME} == {}
    assert sum(figures["changed"] > 0 for figures in report.values()) == len(MANNERS)
