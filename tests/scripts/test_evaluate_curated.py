from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.curated.agent import MIN_SIMILAR_PROBABILITY
from app.embeddings.repository_local import SqliteEmbeddingCache
from knowledge.embeddings.e5 import E5Embedder
from knowledge.evaluation.dataset import load_set
from scripts.evaluate import main
from scripts.evaluation.curated import measure_curated
from tests.knowledge.evaluation.files import write_rows

ROOT = Path(__file__).parents[2]
CORPUS = ["拆封的商品能退吗", "退货的运费谁出", "怎么开发票", "几点下班"]


def test_wordings_are_found_and_pairs_that_differ_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("EMBEDDER", "hash")
    write_rows(tmp_path / "corpus.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(CORPUS)])
    asked: list[dict[str, Any]] = [
        {"id": "a", "text": "请问拆封的商品能退吗？", "relevant": ["0"]},
        {"id": "b", "text": "退货的运费由谁出", "relevant": ["1"]},
        {"id": "c", "text": "哪里有停车场", "relevant": ["3"]},
    ]
    write_rows(tmp_path / "queries.jsonl", asked)
    pairs: list[dict[str, Any]] = [
        {"text1": "发票怎么开", "text2": "怎么开发票", "label": 1},
        {"text1": "拆封了不能退吗", "text2": "拆封的商品能退吗", "label": 0},
    ]
    write_rows(tmp_path / "pairs.jsonl", pairs)
    assert main(["--curated", str(tmp_path)]) == 0
    report = json.loads(capsys.readouterr().out)["curated"]
    assert (report["entries"], report["questions"], report["pairs"]["pairs"]) == (4, 3, 2)
    at = report["curve"]["at"]["0.95"]
    assert at["precision"] == 1.0 and 0 < at["coverage"] < 1
    found = report["pairs"]["curve"]["0.5"]
    assert found["precision"] in (None, 1.0)


@pytest.mark.acceptance(only=True)
async def test_the_shops_curated_answers_are_right_where_they_are_sure(embedding_cache: SqliteEmbeddingCache) -> None:
    embedder = E5Embedder(embedding_cache)
    report = await measure_curated(load_set(ROOT / "knowledge" / "samples"), None, embedder)
    embedder.close()
    sure = report["curve"]["at"][str(MIN_SIMILAR_PROBABILITY)]
    assert sure["precision"] >= 0.85 and sure["coverage"] >= 0.07
    assert report["unlisted"] <= 0.04
    assert 4 <= report["fit"]["slope"] <= 8
