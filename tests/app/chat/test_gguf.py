"""The chat over HTTP with a model of this machine behind it: a tiny file, and the library that loads it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.agents.llm.test_gguf import computed
from tests.app.chat.test_chat import chat, events
from tests.gguf_model import split_pieces, write_gguf

SAID = "路由器整机保修三年。"
DOCUMENT = f"# 保修说明\n\n{SAID}人为损坏不在保修范围内。"
QUOTED = f"{SAID}人为损坏不在保修范围内。[1]"
QUESTION = "路由器整机保修几年"


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("models") / "tiny.gguf", split_pieces(f"{SAID}[1]"))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("models") / "endless.gguf", list("路由器保修"), endless=True)


@asynccontextmanager
async def opened(data: Path, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(
        data_dir=data,
        embedder="hash",
        vector_store="memory",
        samples_enabled=False,
        llm_local_threads=1,
        llm_first_token_timeout=60,
        rewrite_enabled=False,
        verify_enabled=False,
    ).model_copy(update=options)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        await app.state.container.ingestion.add("default", [("保修.md", DOCUMENT.encode())])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            client.container = app.state.container  # type: ignore[attr-defined]
            yield client


def local(path: Path) -> dict[str, Any]:
    return {"llm_provider": "gguf", "llm_local_model": str(path)}


async def test_a_local_model_answers_and_its_tokens_are_counted(tmp_path: Path, writer: Path) -> None:
    async with opened(tmp_path, **local(writer)) as client:
        received = events((await client.post("/api/v1/chat/stream", json={"message": QUESTION})).text)
        tokens, done = [data["text"] for kind, data in received if kind == "token"], received[-1][1]
        assert "".join(tokens) == done["reply"] == f"{SAID}[1]"
        assert len(tokens) > 5
        assert (done["outcome"], done["data"]["degraded"]) == ("answered", [])
        spent = (await client.get("/api/v1/performance/metrics")).json()["llm"]
        assert spent["calls"] == 1
        assert spent["prompt_tokens"] > spent["completion_tokens"] > 5


async def test_without_its_file_quotes_answer_and_it_is_marked(tmp_path: Path) -> None:
    async with opened(tmp_path, **local(tmp_path / "nowhere.gguf")) as client:
        body = await chat(client, QUESTION)
        assert (body["outcome"], body["data"]["degraded"]) == ("answered", ["llm"])
        assert body["reply"] == QUOTED


async def test_a_model_that_crashes_midway_is_replaced_by_quotes_and_the_service_lives(
    tmp_path: Path, endless: Path
) -> None:
    async with opened(tmp_path, **local(endless), llm_max_tokens=10_000) as client:
        model = next(iter(client.container.models._local_models.values()))._model._model  # type: ignore[attr-defined]
        asked = asyncio.create_task(chat(client, QUESTION))
        while model.process is None or not await computed(model.process):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        os.kill(model.process.pid, signal.SIGKILL)
        body = await asked
        assert (body["outcome"], body["data"]["degraded"]) == ("answered", ["llm"])
        assert body["reply"] == QUOTED


async def test_a_local_reader_judges_beside_quoted_answers(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This one says that every passage states the answer: the gate is told so, and nothing is written by a model."""
    path = write_gguf(tmp_path_factory.mktemp("models") / "yes.gguf", ["有"])
    async with opened(tmp_path, reader_enabled=True, reader_model=str(path)) as client:
        models = client.container.models  # type: ignore[attr-defined]
        assert (models.main, models.small) == (None, None)
        await client.container.reader.wait()  # type: ignore[attr-defined]
        assert client.container.reader.calibration is None  # type: ignore[attr-defined]
        body = await chat(client, QUESTION)
        assert body["reply"] == QUOTED
        odds, _ = await models.judge.choose([{"role": "user", "content": "有没有"}], ("有", "没有"), 60.0)
        assert odds > 0
