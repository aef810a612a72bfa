"""A tenant's own model labels questions about its base, and the gate is calibrated by that until it is dropped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.main import create_app
from app.settings import Settings
from app.wiring.container import Container
from tests.app.search.examiner import Examiner

PATH = "/api/v1/tuner"
Served = tuple[httpx.AsyncClient, Container]


def documents() -> list[tuple[str, tuple[str, str]]]:
    texts = (f"# 规定{number}\n\n第{number}条规定：退款在{number + 2}天之内到账。" for number in range(30))
    return [("files", (f"{number}.md", text)) for number, text in enumerate(texts)]


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with Examiner() as llm:
        settings = Settings(
            data_dir=tmp_path,
            embedder="hash",
            vector_store="memory",
            samples_enabled=False,
            llm_base_url=llm.base_url,
            llm_api_key=SecretStr("key"),
            llm_prices={"deepseek-chat": {"input": 2.0, "output": 8.0}},
            reader_enabled=True,
            reader_timeout=20.0,
        )
        app = create_app(settings)
        async with app.router.lifespan_context(app):
            container: Container = app.state.container
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
                await container.startup.ready.wait()
                await container.reader.wait()
                yield client, container


async def made(http: httpx.AsyncClient) -> dict[str, Any]:
    begun = await http.post(f"{PATH}/judgements", json={})
    assert begun.status_code == 202, begun.text
    async with asyncio.timeout(120):
        while (report := (await http.get(f"{PATH}/reports/{begun.json()['id']}")).json())["finished_at"] is None:
            assert report["state"] in ("queued", "running", "done"), report
            await asyncio.sleep(0.05)
    return dict(report)


async def test_a_model_labels_the_base_and_the_gate_goes_by_it_until_that_is_dropped(served: Served) -> None:
    http, container = served
    assert (await http.post(f"{PATH}/judgements", json={})).json()["error"]["code"] == "empty_knowledge_base"
    await http.post("/api/v1/knowledge/documents", params={"wait": 60}, files=documents())
    await container.base.wait_until_settled()
    search = (await container.tenants.get_parts("default")).retriever
    await search.calibrate()
    estimate = (await http.post(f"{PATH}/judgements/estimates", json={})).json()
    assert estimate["passages"] == 28 and estimate["seconds"] > 0
    assert estimate["prompt_tokens"] > estimate["completion_tokens"] > 0 and estimate["cost"] > 0
    report = await made(http)
    result = report["result"]
    assert (report["done"], report["total"]) == (30, 30)
    assert (result["answerable"], result["unanswerable"]) == (30, 30)
    assert result["fit"]["right_after"] >= 0.5 and result["values"] == {}
    unlabelled = search.calibrations
    assert (await http.get(f"{PATH}/verdicts")).json() == {"verdicts": None}
    assert (await http.post(f"{PATH}/reports/{report['id']}/apply", json={})).status_code == 200
    assert search.calibrations != unlabelled
    verdicts = (await http.get(f"{PATH}/verdicts")).json()["verdicts"]
    assert (verdicts["report_id"], verdicts["answerable"]) == (report["id"], 30)
    assert (await http.delete(f"{PATH}/verdicts")).status_code == 204
    assert search.calibrations == unlabelled


async def test_a_tenant_without_a_model_is_told_to_connect_one(http: httpx.AsyncClient) -> None:
    for path in ("judgements", "judgements/estimates"):
        refused = await http.post(f"{PATH}/{path}", json={})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_model")
    assert (await http.post(f"{PATH}/judgements", json={"passages": 1})).status_code == 422
