"""The main figures do not fall: a change that costs more than it looks like is found before it is merged.

A floor is about .05 below what was measured when it was set; raise it when the figure has risen for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.embeddings import shipped_vectors
from app.embeddings.repository_local import SqliteEmbeddingCache
from app.evaluation.dialogues import read_dialogues
from app.evaluation.playback import play_dialogues
from app.evaluation.results import compute_figures
from app.retrieval import build_embedder_options, chunk_options
from app.settings import Settings
from app.wiring.models import LanguageModels
from knowledge.embeddings.base import Embedder
from knowledge.embeddings.registry import get_embedder
from knowledge.evaluation.dataset import load_set
from knowledge.evaluation.metrics import measure_ranking
from scripts.evaluation.parts import Evaluation
from scripts.evaluation.product import Setup, open_product
from scripts.evaluation.routing import measure_router
from tests.acceptance import part
from tests.conftest import CACHE

SAMPLES_HIT_AT_1 = 0.87
# Of the conversations that are played here.
PROPERTY_ACCURACY = 0.58
# At most.
PROPERTY_FALSE_ANSWERS = 0.06
# At most.
PROPERTY_HALLUCINATIONS = 0.05
ROUTING_MACRO_F1 = 0.74

# Of the 60 conversations one in so many.
EVERY = part(15, 5)
# For each test, on two busy cores and with vectors still to be made; ten seconds once they are there.
BUDGET_SECONDS = 240
HERE = Path(__file__).parent
SAMPLES = HERE.parents[1] / "knowledge" / "samples"

pytestmark = pytest.mark.timeout(BUDGET_SECONDS)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, embedder="e5", _env_file=None)


@pytest.fixture
def embedder(settings: Settings, embedding_cache: SqliteEmbeddingCache) -> Iterator[Embedder]:
    with closing(get_embedder(settings.embedder, embedding_cache, build_embedder_options(settings))) as embedder:
        shipped_vectors.fill(embedding_cache, embedder)
        yield embedder


async def test_the_samples_are_found(settings: Settings, embedder: Embedder) -> None:
    data = load_set(SAMPLES)
    data = replace(data, questions=data.answerable)
    results = await Evaluation(settings, embedder, LanguageModels(settings)).run_set(data)
    ranked = [result.rank_sources(data.source_of) for result in results]
    hit = measure_ranking([result.question.documents for result in results], ranked)["hit@1"]
    assert hit is not None
    assert hit["value"] >= SAMPLES_HIT_AT_1


async def test_messages_of_a_shop_go_where_they_belong(settings: Settings, embedder: Embedder) -> None:
    report = await measure_router(HERE / "routing.jsonl", [SAMPLES], embedder, chunk_options(settings))
    assert report["macro_f1"] >= ROUTING_MACRO_F1


@pytest.mark.acceptance(only=True)
async def test_conversations_with_a_property_company_hold(settings: Settings) -> None:
    setup = Setup(settings, CACHE, (HERE / "property" / "documents",))
    dialogues = read_dialogues(HERE / "property" / "dialogues.jsonl")[::EVERY]
    async with open_product(setup) as product:
        played = await play_dialogues(product, dialogues, setup.today)
    report = compute_figures([turn.result for turn in played])
    assert report["conversations"] == part(4, 12)
    assert report["accuracy"] >= PROPERTY_ACCURACY
    assert report["false_answers"] <= PROPERTY_FALSE_ANSWERS
    assert report["hallucination_rate"] <= PROPERTY_HALLUCINATIONS
