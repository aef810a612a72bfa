from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import func, select

from app.auth.principal import Role
from app.conversations.tables import StoredTurn
from app.db.tables import OutboxEvent
from app.ids import create_id
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app, open_container
from app.metrics import STAGES
from app.outbox import OutboxWorker
from app.settings import Settings
from app.turns.types import Message
from app.types import SessionKey
from app.wiring.container import Container
from knowledge.retriever import Retriever

RETURNS = "# 退货说明\n\n退款在验货后 1～5 个工作日内原路退回。\n\n## 运费\n\n质量问题的退货运费由商城承担。\n"
REPAIRS = "# 保修说明\n\n路由器整机保修三年，耳机保修一年。\n"
QUESTION = "退款在验货后几个工作日内原路退回"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False)


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        files = [("退货.md", RETURNS.encode()), ("保修.md", REPAIRS.encode())]
        assert all(report.ready for report in await app.state.container.ingestion.add("default", files))
        await (await app.state.container.tenants.get_parts("default")).retriever.calibrate()
        yield app


@pytest.fixture
def container(app: FastAPI) -> Container:
    container: Container = app.state.container
    return container


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that were really searched."""
    seen: list[str] = []
    search = Retriever.search

    async def counted(self: Retriever, question: str, **options: Any) -> Any:
        seen.append(question)
        await asyncio.sleep(0.01)
        return await search(self, question, **options)

    monkeypatch.setattr(Retriever, "search", counted)
    return seen


async def chat(client: httpx.AsyncClient, message: str, **fields: Any) -> dict[str, Any]:
    response = await client.post("/api/v1/chat", json={"message": message} | fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def streamed(client: httpx.AsyncClient, message: str) -> dict[str, Any]:
    text = (await client.post("/api/v1/chat/stream", json={"message": message})).text
    done: dict[str, Any] = json.loads(re.findall(r"event: done\ndata: (.+)\n", text)[0])
    assert (
        "".join(json.loads(data)["text"] for data in re.findall(r"event: token\ndata: (.+)\n", text)) == done["reply"]
    )
    return done


async def get(client: httpx.AsyncClient, path: str) -> Any:
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()


async def invalidate(client: httpx.AsyncClient, **body: str) -> dict[str, Any]:
    response = await client.post("/api/v1/performance/cache/invalidate", json=body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    assert set(answer) == {"success", "cleared", "message"}
    return answer


async def until_settled(container: Container) -> None:
    async def left() -> int:
        async with container.base.database.read() as connection:
            return (await connection.execute(select(func.count()).select_from(OutboxEvent))).scalar_one()

    async with asyncio.timeout(60):
        while await left():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.05)


async def test_a_hundred_customers_with_one_question_cost_one_search_and_all_are_kept(
    client: httpx.AsyncClient, container: Container, searches: list[str]
) -> None:
    bodies = await asyncio.gather(
        *(chat(client, QUESTION) for _ in range(60)), *(streamed(client, QUESTION) for _ in range(40))
    )
    assert searches == [QUESTION]
    assert len({body["reply"] for body in bodies}) == 1
    assert sum(not body["data"]["cached"] for body in bodies) == 1
    async with container.base.database.read() as connection:
        kept = {
            row.id: row.session_id for row in await connection.execute(select(StoredTurn.id, StoredTurn.session_id))
        }
    assert kept == {body["message_id"]: body["session_id"] for body in bodies}
    assert len(kept) == 100


async def test_json_and_stream_share_one_entry(client: httpx.AsyncClient, searches: list[str]) -> None:
    first, again = await chat(client, QUESTION), await streamed(client, f"{QUESTION}？")
    assert not first["data"]["cached"]
    assert again["data"]["cached"]
    assert again["reply"] == first["reply"]
    assert again["data"]["sources"] == first["data"]["sources"]
    assert len(searches) == 1
    assert again["message_id"] != first["message_id"]
    assert "vector" not in again["data"]["timings_ms"]


async def test_a_changed_knowledge_base_answers_anew_at_once(client: httpx.AsyncClient, container: Container) -> None:
    await chat(client, QUESTION)
    changed = RETURNS.replace("1～5 个", "9 个")
    await container.ingestion.add("default", [("退货.md", changed.encode())])
    body = await chat(client, QUESTION)
    assert not body["data"]["cached"]
    assert "9 个工作日" in body["reply"]


@pytest.mark.parametrize("message", [f"{QUESTION}，我的电话 13812345678", "xylophone zebra quantum", "转人工"])
async def test_personal_questions_refusals_and_handoffs_are_not_cached(client: httpx.AsyncClient, message: str) -> None:
    for _ in range(2):
        assert not (await chat(client, message))["data"]["cached"]


async def test_only_the_first_message_of_a_session_comes_out_of_the_cache(client: httpx.AsyncClient) -> None:
    """Whatever follows may lean on what was said, though it reads like a question of its own."""
    await chat(client, "那运费呢")
    session = (await chat(client, QUESTION))["session_id"]
    assert not (await chat(client, "那运费呢", session_id=session))["data"]["cached"]
    assert not (await chat(client, QUESTION, session_id=session))["data"]["cached"]
    assert (await chat(client, QUESTION, session_id="another"))["data"]["cached"]


async def test_a_search_is_not_repeated_once_the_answer_is_forgotten(
    client: httpx.AsyncClient, container: Container, searches: list[str]
) -> None:
    first = await chat(client, QUESTION)
    await container.hot_cache.invalidate("default")
    again = await chat(client, QUESTION)
    assert (again["reply"], again["data"]["cached"]) == (first["reply"], False)
    assert len(searches) == 1
    explained = {"query": QUESTION, "explain": True}
    assert (await client.post("/api/v1/knowledge/search", json=explained)).is_success
    assert len(searches) == 2


async def test_invalidation_by_document_and_question(client: httpx.AsyncClient, searches: list[str]) -> None:
    other = "路由器整机保修三年，耳机保修一年"
    document = (await chat(client, QUESTION))["data"]["sources"][0]["document_id"]
    await chat(client, other)
    assert (await invalidate(client, document_id=document))["cleared"] == 1
    assert not (await chat(client, QUESTION))["data"]["cached"]
    assert searches.count(QUESTION) == 2
    assert (await chat(client, other))["data"]["cached"]
    assert (await invalidate(client, question=f" {other}。"))["cleared"] == 1
    assert (await invalidate(client, question=other))["cleared"] == 0
    assert (await invalidate(client))["cleared"] == 1
    assert (await get(client, "/api/v1/performance/cache/stats"))["size"] == 0
    both = await client.post("/api/v1/performance/cache/invalidate", json={"document_id": "a", "question": "b"})
    assert both.json()["error"]["code"] == "invalid_request"
    assert (await client.post("/api/v1/performance/cache/invalidate")).json()["success"]


async def test_metrics_tell_every_stage_and_rate(client: httpx.AsyncClient) -> None:
    for message in (QUESTION, QUESTION, "xylophone zebra quantum", ""):
        await chat(client, message)
    found = await get(client, "/api/v1/performance/metrics")
    assert list(found["stages"]) == list(STAGES)
    assert all(set(stage) == {"count", "p50", "p95", "p99"} for stage in found["stages"].values())
    counts = {stage: values["count"] for stage, values in found["stages"].items()}
    assert (counts["guard"], counts["cache"], counts["embed"], counts["persist"]) == (4, 3, 2, 3)
    assert counts["vector"] == counts["rerank"] == counts["gate"] == 2
    assert 0 < found["total_ms"]["p50"] <= found["total_ms"]["p95"] <= found["total_ms"]["p99"]
    assert found["first_token_ms"]["count"] == 3
    assert (found["turns"], found["failed"]) == (4, 0)
    assert found["cache_hit_rate"] == pytest.approx(1 / 3)
    assert (found["refusal_rate"], found["degradation_rate"]) == (0.25, 0.0)
    assert found["concurrency"] == {"in_flight": 0, "peak": 1}
    assert found["llm"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0}


@pytest.mark.parametrize(("limit", "recall"), [(20_000, "exact"), (0, "hnsw")])
async def test_metrics_tell_who_answered_dense_recalls(tmp_path: Path, limit: int, recall: str) -> None:
    """On either side of EXACT_SEARCH_MAX_CHUNKS."""
    settings = Settings(data_dir=tmp_path, embedder="hash", samples_enabled=False, exact_search_max_chunks=limit)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        container: Container = app.state.container
        await container.ingestion.add("default", [("退货.md", RETURNS.encode())])
        retriever = (await container.tenants.get_parts("default")).retriever
        await retriever.calibrate()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            before = (await client.get("/api/v1/performance/metrics")).json()["dense_recalls"]
            await retriever.search(QUESTION)
            after = (await client.get("/api/v1/performance/metrics")).json()["dense_recalls"]
            assert after[recall] > before[recall]
            assert sum(after.values()) == after[recall]
            text = (await client.get("/metrics")).text
            assert f'yingda_dense_recalls_total{{recall="{recall}",tenant="default"}} {after[recall]:.1f}' in text


async def test_prometheus_reads_the_same_counts(client: httpx.AsyncClient, container: Container) -> None:
    await chat(client, QUESTION)
    container.metrics.get_tenant("other").turns += 1
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    assert 'yingda_turns_total{outcome="answered",tenant="default"} 1.0' in response.text
    assert 'yingda_stage_seconds_count{stage="vector",tenant="default"} 1.0' in response.text
    assert 'yingda_stage_seconds_bucket{le="+Inf",stage="vector",tenant="default"} 1.0' in response.text
    assert 'yingda_cache_misses_total{tenant="default"} 1.0' in response.text
    assert 'tenant="other"' in response.text


async def test_prometheus_reads_statuses_what_waits_and_the_process(
    client: httpx.AsyncClient, container: Container
) -> None:
    await container.outbox.close()  # so that events are still there when they are counted
    await container.desk.service.request_person(SessionKey("default", "s"))
    await container.desk.service.request_person(SessionKey("acme", "s"))
    assert (await client.get("/api/v1/tickets/TK0")).status_code == 404
    assert (await client.request("HAX", "/made/up/address")).status_code in (404, 405)
    files = [("files", ("发票.md", b"# A\n\nb c d")), ("files", ("坏.pdf", b"%PDF-1.4 broken"))]
    await client.post("/api/v1/knowledge/documents", files=files, params={"wait": 60})
    text = (await client.get("/metrics")).text
    assert 'yingda_http_requests_total{method="GET",route="/api/v1/tickets/{number}",status="404"} 1.0' in text
    assert re.search(r'yingda_http_requests_total\{method="other",route="\(unmatched\)",status="40\d"\} 1.0', text)
    assert 'yingda_desk_sessions{state="queued",tenant="acme"} 1.0' in text
    assert 'yingda_outbox_events{kind="webhook",tenant="default"}' in text
    assert 'yingda_ingested_total{outcome="created",tenant="default"} 1.0' in text
    assert 'yingda_ingested_total{outcome="failed",tenant="default"} 1.0' in text
    assert 'yingda_ingestion_files{state="failed",tenant="default"} 1.0' in text
    for name in ("process_resident_memory_bytes", "process_open_fds", "process_cpu_seconds_total"):
        assert float(re.search(rf"^{name} (\S+)$", text, re.M)[1]) > 0  # type: ignore[index]
    assert 'tenant="acme"' in text


async def test_a_key_for_metrics_reads_those_of_its_tenant(client: httpx.AsyncClient, app: FastAPI) -> None:
    container: Container = app.state.container
    for tenant in ("default", "acme"):
        await KeyRepository(container.base.database).create(tenant, Role.METRICS, "抓取", hash_key(f"key-{tenant}"))
    container.keys._fresh_until = 0.0  # what was loaded is old
    await container.desk.service.request_person(SessionKey("acme", "s"))
    for tenant, sees in (("default", True), ("acme", False)):
        headers = {"X-API-Key": f"key-{tenant}"}
        text = (await client.get("/metrics", headers=headers)).text
        assert 'tenant="acme"' in text and ("process_cpu" in text) is sees


async def test_usage_and_gaps_are_counted_behind(client: httpx.AsyncClient, container: Container) -> None:
    for message in (QUESTION, QUESTION, "xylophone zebra 13812345678", "xylophone zebra 13987654321"):
        await chat(client, message)
    await until_settled(container)
    [today] = (await get(client, "/api/v1/performance/usage?days=1"))["days"]
    assert today["counts"] == {"turns": 4, "outcome:answered": 2, "outcome:no_evidence": 2, "cached": 1}
    page = await get(client, "/api/v1/knowledge/gaps/questions")
    assert [(gap["question"], gap["count"]) for gap in page["questions"]] == [("xylophone zebra [phone]", 2)]
    assert page["total"] == 1


@pytest.mark.acceptance(only=True)
async def test_what_a_killed_server_left_undone_is_done_by_the_next(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(OutboxWorker, "start", lambda self: None)
        async with open_container(settings) as container:
            for _ in range(3):
                await container.chat.answer_message(Message("default", create_id(), "xylophone zebra quantum"))
            assert await container.usage.load_days("default", 1) == {}
    for _ in range(2):
        async with open_container(settings) as container:
            await until_settled(container)
            [counts] = (await container.usage.load_days("default", 1)).values()
            assert counts["turns"] == 3
            gaps, _ = await container.unanswered.load_page("default")
            assert [gap.count for gap in gaps] == [3]
