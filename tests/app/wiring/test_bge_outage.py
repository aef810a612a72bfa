"""A server whose models are not there yet: it starts, answers, says what is missing, and takes them once they come."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from app.main import open_container
from app.settings import Settings
from app.turns.types import Message
from app.wiring.container import Container
from knowledge import checkpoint
from knowledge.calibration import calibrator
from knowledge.types import Retrieval

pytestmark = pytest.mark.as_shipped
FILES = [
    ("退货.md", "# 退货\n\n质量问题的退货运费由商城承担。\n\n## 时间\n\n退款在验货后五个工作日内原路退回。".encode()),
    ("保修.md", "# 保修\n\n路由器整机保修三年，耳机保修一年，人为损坏不在保修范围内。".encode()),
]
QUESTION = "路由器整机保修三年，耳机保修一年"


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr(calibrator, "DEBOUNCE_SECONDS", 0.05)


def settings_of(tmp_path: Path, **changes: object) -> Settings:
    return Settings(data_dir=tmp_path / "data", samples_enabled=False).model_copy(update=changes)


async def search(container: Container, question: str = QUESTION) -> Retrieval:
    return await (await container.tenants.get_parts("default")).retriever.search(question)


async def until_sound(container: Container) -> Retrieval:
    async with asyncio.timeout(60):
        while True:
            result = await search(container)
            if not result.degraded:
                return result
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("store", ["chroma", pytest.param("memory", marks=pytest.mark.acceptance(only=True))])
async def test_without_the_embedder_keywords_answer_from_the_first_start_on(
    tmp_path: Path, bge_embedder_folder: Path, store: str
) -> None:
    settings = settings_of(tmp_path, embedder="bge", bge_model=str(tmp_path / "bge"), vector_store=store)
    async with open_container(settings) as container:
        reports = await container.ingestion.add("default", FILES)
        assert all(report.ready for report in reports)
        await container.startup.prepare()
        assert container.startup.ready.is_set()
        done = await container.chat.answer_message(Message("default", "s", QUESTION))
        assert done.answer.degraded == ("embedding",)
        assert "保修三年" in done.answer.reply
        shutil.copytree(bge_embedder_folder, tmp_path / "bge")
        result = await until_sound(container)
        assert result.candidates[0].vector_rank is not None
    async with open_container(settings) as container:
        assert (await search(container)).degraded == ()


async def test_without_the_reranker_the_fallback_answers_from_the_first_start_on(
    tmp_path: Path, bge_reranker_folder: Path
) -> None:
    settings = settings_of(
        tmp_path,
        embedder="hash",
        vector_store="memory",
        reranker="bge",
        bge_reranker_model=str(tmp_path / "reranker"),
        rerank_fallback="cosine",
    )
    async with open_container(settings) as container:
        await container.ingestion.add("default", FILES)
        await container.startup.prepare()
        done = await container.chat.answer_message(Message("default", "s", QUESTION))
        assert done.answer.degraded == ("rerank",)
        assert {candidate.scorer for candidate in (await search(container)).candidates} == {"cosine"}
        assert "保修三年" in done.answer.reply
        shutil.copytree(bge_reranker_folder, tmp_path / "reranker")
        assert {candidate.scorer for candidate in (await until_sound(container)).candidates} == {"bge"}
