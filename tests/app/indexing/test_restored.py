"""A database without its embeddings: restored from a backup, or given to a new replica."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from loguru import logger

from app import __version__
from app.db.fingerprint import compute_fingerprint
from app.indexing import backlog
from app.main import create_app, open_container
from app.settings import Settings
from app.wiring.container import Container
from app.wiring.knowledge import open_knowledge
from knowledge.calibration import calibrator
from knowledge.index import has_vectors
from tests.app.indexing.slow import SlowEmbedder, use_slow_embedders
from tests.app.openapi.document import operations, problems
from tests.services import postgres_database

QUESTION = "路由器整机保修三年，耳机保修一年"
FILES = [
    ("退货.md", "# 退货\n\n质量问题的退货运费由商城承担。\n\n## 时间\n\n退款在验货后五个工作日内原路退回。".encode()),
    ("保修.md", "# 保修\n\n路由器整机保修三年，耳机保修一年，人为损坏不在保修范围内。".encode()),
    *((f"{city}.md", f"# {city}门店\n\n{city}门店每天九点开门。".encode()) for city in ("杭州", "宁波", "温州")),
]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", embedder="hash", vector_store="memory", samples_enabled=False)


@pytest.fixture
async def slow(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[SlowEmbedder]:
    """The embedders that are opened; those of the documents that `settings` has are lost."""
    async with open_container(settings) as container:
        reports = await container.ingestion.add("default", FILES)
        assert all(report.ready for report in reports)
    for path in settings.data_dir.glob("embeddings.sqlite3*"):
        path.unlink()
    monkeypatch.setattr(calibrator, "DEBOUNCE_SECONDS", 0.05)
    monkeypatch.setattr(backlog, "LOG_SECONDS", 0.0)
    return use_slow_embedders(monkeypatch)


@asynccontextmanager
async def started(settings: Settings) -> AsyncIterator[tuple[Container, httpx.AsyncClient]]:
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client,
    ):
        yield app.state.container, client


async def readiness(client: httpx.AsyncClient) -> tuple[int, dict[str, Any]]:
    response = await client.get("/api/v1/health/ready")
    return response.status_code, response.json()


async def until_done(client: httpx.AsyncClient, done: int) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            _, body = await readiness(client)
            if body["indexing"] and body["indexing"]["done"] >= done:
                return body
            await asyncio.sleep(0.02)


async def ask(client: httpx.AsyncClient, message: str = QUESTION) -> dict[str, Any]:
    response = await client.post("/api/v1/chat", json={"message": message})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def test_it_answers_by_keywords_at_once_and_says_how_far_it_is(
    settings: Settings, slow: list[SlowEmbedder]
) -> None:
    async with started(settings) as (container, client):
        assert (await client.get("/api/v1/health")).json() == {
            "status": "ok",
            "version": __version__,
            "database": compute_fingerprint(settings.sql_url),
        }
        body = await until_done(client, 0)
        total = body["indexing"]["total"]
        assert total >= len(FILES)
        assert (await readiness(client))[0] == 503
        assert problems(operations()["readiness"].response(503)["application/json"]["schema"], body) == []
        assert not body["ready"]
        assert body["waiting_for"][-3:] == ["vectors", "calibration", "warm_query"]  # the index may be a moment behind
        assert body["error"]["code"] == "not_ready"
        assert body["indexing"] == {"done": 0, "total": total, "eta_s": None}
        told = await ask(client)
        assert "保修三年" in told["reply"]
        assert told["data"]["degraded"] == ["embedding"]
        slow[0].allow(2)
        body = await until_done(client, 2)
        assert (body["indexing"]["done"], body["indexing"]["total"]) == (2, total)
        assert body["indexing"]["eta_s"] >= 0
        slow[0].allow_all()
        await asyncio.wait_for(container.startup.ready.wait(), 60)
        status, body = await readiness(client)
        assert (status, body["status"], body["ready"], body["indexing"]) == (200, "ready", True, None)
        told = await ask(client)
        assert told["data"]["degraded"] == []
        assert has_vectors((await container.tenants.get_parts("default")).retriever.index.get_snapshot())


async def test_answers_by_keywords_are_marked_not_kept_and_no_misses(
    settings: Settings, slow: list[SlowEmbedder]
) -> None:
    async with started(settings) as (container, client):
        await until_done(client, 0)
        first, again = [await ask(client) for _ in range(2)]
        assert (first["data"]["cached"], again["data"]["cached"]) == (False, False)
        unknown = await ask(client, "火星移民的签证费用是多少")
        assert unknown["outcome"] != "no_evidence"
        assert "embedding" in unknown["data"]["degraded"]
        parts = await container.tenants.get_parts("default")
        assert parts.retriever.cache.hits == len(parts.retriever.cache) == 0
        assert {item.scorer for item in parts.retriever.calibrations} == {"lexical"}
        slow[0].allow_all()
        await asyncio.wait_for(container.startup.ready.wait(), 60)
        assert "lexical_dense" in {item.scorer for item in parts.retriever.calibrations}


async def test_what_is_uploaded_meanwhile_is_found_by_keywords(settings: Settings, slow: list[SlowEmbedder]) -> None:
    async with started(settings) as (container, client):
        body = await until_done(client, 0)
        upload = asyncio.create_task(container.ingestion.add("default", [("绍兴.md", "绍兴门店十点开门。".encode())]))
        await asyncio.sleep(0)
        slow[0].allow(body["indexing"]["total"] + 1)
        assert (await upload)[0].ready
        await asyncio.wait_for(container.startup.ready.wait(), 60)
        assert (
            len((await container.tenants.get_parts("default")).retriever.index.get_snapshot())
            == body["indexing"]["total"] + 1
        )


async def test_the_log_tells_of_the_progress(settings: Settings, slow: list[SlowEmbedder]) -> None:
    lines: list[str] = []
    sink = logger.add(lambda message: lines.append(message.record["message"]), filter="app.indexing.backlog")
    try:
        async with started(settings) as (container, client):
            total = (await until_done(client, 0))["indexing"]["total"]
            slow[0].allow_all()
            await asyncio.wait_for(container.startup.ready.wait(), 60)
    finally:
        logger.remove(sink)
    assert lines[0] == f"{total} of {total} chunks have to be embedded; until then keywords alone answer"
    assert [line.split(",")[0] for line in lines[1:]] == [
        f"embedding: {done} of {total} chunks" for done in range(1, total + 1)
    ]


async def test_a_start_that_was_stopped_goes_on_where_it_was(settings: Settings, slow: list[SlowEmbedder]) -> None:
    async with started(settings) as (_, client):
        total = (await until_done(client, 0))["indexing"]["total"]
        slow[0].allow(3)
        await until_done(client, 3)
    async with started(settings) as (container, _):
        slow[1].allow_all()
        await asyncio.wait_for(container.startup.ready.wait(), 60)
    assert len(slow[1].encoded) == total - 3


@pytest.fixture(params=["sqlite", "postgresql"])
async def address(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    if request.param == "postgresql":
        async with postgres_database() as url:
            yield url
    else:
        yield f"sqlite+aiosqlite:///{(tmp_path / 'shared.sqlite3').as_posix()}"


async def test_replicas_share_what_one_embedded_in_the_database(
    settings: Settings, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = settings.model_copy(update={"database_url": address, "embedding_cache": "database"})
    made = use_slow_embedders(monkeypatch)
    async with open_knowledge(shared, owns_index=True) as first:
        made[0].allow_all()
        await first.ingestion.add("default", FILES)
        elsewhere = shared.model_copy(update={"data_dir": tmp_path / "other"})
        async with open_knowledge(elsewhere, owns_index=True) as second:
            await second.wait_until_settled()
            for base in (first, second):
                snapshot = (await base.open_index("default")).get_snapshot()
                assert len(snapshot) == len(made[0].encoded) > 0
                assert has_vectors(snapshot)
            assert made[1].encoded == []
        assert not any((data_dir / "embeddings.sqlite3").exists() for data_dir in (shared.data_dir, elsewhere.data_dir))
