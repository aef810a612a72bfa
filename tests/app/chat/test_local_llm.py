"""The chat over HTTP with a model of this machine behind it: a tiny checkpoint, and the library that loads it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from tests.app.chat.test_chat import chat, events
from tests.instruct_model import write_instruct

SAID = "路由器整机保修三年。"
DOCUMENT = f"# 保修说明\n\n{SAID}人为损坏不在保修范围内。"
QUOTED = f"{SAID}人为损坏不在保修范围内。[1]"
QUESTION = "路由器整机保修几年"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_instruct(tmp_path_factory.mktemp("models") / "tiny-instruct", f"{SAID}[1]")


@asynccontextmanager
async def opened(data: Path, model: Path, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(
        data_dir=data,
        embedder="hash",
        vector_store="memory",
        samples_enabled=False,
        llm_provider="local",
        llm_local_model=str(model),
        llm_first_token_timeout=60,
        rewrite_enabled=False,
        verify_enabled=False,
    ).model_copy(update=options)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        await app.state.container.ingestion.add("default", [("保修.md", DOCUMENT.encode())])
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client


async def test_a_local_model_answers_and_its_tokens_are_counted(
    tmp_path: Path, folder: Path, instruct_folder: Path
) -> None:
    async with opened(tmp_path, folder) as client:
        received = events((await client.post("/api/v1/chat/stream", json={"message": QUESTION})).text)
        tokens, done = [data["text"] for kind, data in received if kind == "token"], received[-1][1]
        assert "".join(tokens) == done["reply"] == f"{SAID}[1]"
        assert len(tokens) > 5
        assert (done["outcome"], done["data"]["degraded"]) == ("answered", [])
        spent = (await client.get("/api/v1/performance/metrics")).json()["llm"]
        assert spent["calls"] == 1
        assert spent["prompt_tokens"] > spent["completion_tokens"] > 5


async def test_without_its_folder_quotes_answer_and_it_is_marked(tmp_path: Path, instruct_folder: Path) -> None:
    async with opened(tmp_path, tmp_path / "nowhere") as client:
        body = await chat(client, QUESTION)
        assert (body["outcome"], body["data"]["degraded"]) == ("answered", ["llm"])
        assert body["reply"] == QUOTED


async def test_a_model_that_breaks_midway_is_replaced_by_quotes(
    tmp_path: Path, folder: Path, instruct_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import Qwen2ForCausalLM

    forward, steps = Qwen2ForCausalLM.forward, iter(range(4))

    def breaking(self: Any, *args: Any, **options: Any) -> Any:
        if next(steps, None) is None:
            raise RuntimeError("out of memory")
        return forward(self, *args, **options)

    monkeypatch.setattr(Qwen2ForCausalLM, "forward", breaking)
    async with opened(tmp_path, folder) as client:
        received = events((await client.post("/api/v1/chat/stream", json={"message": QUESTION})).text)
        assert [kind for kind, _ in received].count("replace") == 1
        done = received[-1][1]
        assert (done["outcome"], done["data"]["degraded"]) == ("answered", ["llm"])
        assert done["reply"] == QUOTED
