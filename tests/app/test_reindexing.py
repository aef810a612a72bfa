from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import numpy as np
import pytest

from app.generations.types import StoredGeneration
from knowledge.embeddings import registry
from knowledge.embeddings.base import Kind
from knowledge.embeddings.hash import HashEmbedder
from knowledge.errors import EmbeddingUnavailable
from knowledge.types import Matrix
from scripts import reindex
from tests.app.serving import Served, served
from tests.chroma_server import forget_clients

RUNS = "/api/v1/jobs/reindex/runs"
TOWNS = "东南西北中上下前后左右内外新旧大小高低远近"
CHUNKS, CLIENTS = 200, 8


class WideEmbedder(HashEmbedder):
    """Of another width than `hash`, so that what is mixed of the two fails. `pause`: keeps passages waiting."""

    name = "wide/1"
    dimension = 300
    pause, waits = Event(), Event()
    fails = False
    closed = 0

    def _encode(self, texts: Sequence[str], kind: Kind) -> Matrix:
        if kind == "passage":
            type(self).waits.set()
            type(self).pause.wait(30)
            if type(self).fails:
                raise EmbeddingUnavailable("the model is gone")
        matrix = super()._encode(texts, kind)
        return np.ascontiguousarray(matrix[:, ::-1])

    def close(self) -> None:
        type(self).closed += 1
        super().close()


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> type[WideEmbedder]:
    """In the place of `use`."""
    monkeypatch.setitem(registry.EMBEDDERS, "use", lambda options, cache: WideEmbedder(cache))
    monkeypatch.setattr(WideEmbedder, "pause", Event())
    monkeypatch.setattr(WideEmbedder, "waits", Event())
    monkeypatch.setattr(WideEmbedder, "fails", False)
    monkeypatch.setattr(WideEmbedder, "closed", 0)
    WideEmbedder.pause.set()
    return WideEmbedder


def shop(number: int) -> str:
    return f"{TOWNS[number % len(TOWNS)]}{TOWNS[number // len(TOWNS)]}湖门店"


def row(number: int) -> str:
    return f"{shop(number)}的开门时间是几点,{shop(number)}早上 {number + 100} 分开门\n"


def document(*numbers: int) -> tuple[str, bytes]:
    return f"{numbers[0]}.csv", ("问题,答案\n" + "".join(map(row, numbers))).encode()


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, hot_cache_max_size=0, rate_per_address=0, rate_per_key=0) as running:
        yield running


@pytest.fixture
async def http(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address, timeout=60) as client:
        yield client


async def filled(product: Served, chunks: int) -> None:
    await product.container.ingestion.add("default", [document(*range(chunks))])
    await (await product.container.tenants.get_parts("default")).retriever.calibrate()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.02)


async def over(http: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while (run := (await http.get(f"/api/v1/jobs/runs/{run_id}")).json())["state"] in ("queued", "running"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return dict(run)


async def begun(http: httpx.AsyncClient, embedder: str = "use") -> str:
    response = await http.post(RUNS, json={"parameters": {"embedder": embedder}})
    assert response.status_code == 202, response.text
    return str(response.json()["id"])


async def said(http: httpx.AsyncClient, number: int) -> dict[str, Any]:
    response = await http.post("/api/v1/chat", json={"message": f"{shop(number)}的开门时间是几点"})
    response.raise_for_status()
    body = response.json()
    return {"reply": body["reply"], **body["data"]}


def answered(data: dict[str, Any], number: int) -> bool:
    return not data["degraded"] and f"早上 {number + 100} 分" in data["reply"]


async def test_it_moves_to_another_embedder_while_it_answers(product: Served, http: httpx.AsyncClient) -> None:
    await filled(product, CHUNKS)
    generations = product.container.base.generations
    answers, numbers, stop = list[bool](), count(), asyncio.Event()

    async def customer() -> None:
        while not stop.is_set():
            number = next(numbers) % CHUNKS
            answers.append(answered(await said(http, number), number))

    customers = [asyncio.create_task(customer()) for _ in range(CLIENTS)]
    run = await over(http, await begun(http))
    behind = len(answers)
    await until(lambda: len(answers) >= behind + CLIENTS)
    stop.set()
    await asyncio.gather(*customers)
    assert run["state"] == "done", run["error"]
    assert (run["result"]["embedder"], run["result"]["chunks"]) == ("use", CHUNKS)
    assert run["done"] == run["total"]
    assert all(answers) and behind > CLIENTS
    assert [engine.name for engine in generations.engines] == ["use"]
    assert (await generations.get_current("default")).number == 1


@pytest.mark.acceptance(only=True)
async def test_the_old_index_goes_after_its_last_turn(product: Served, http: httpx.AsyncClient) -> None:
    await filled(product, 3)
    generations = product.container.base.generations
    async with product.container.tenants.use_parts("default") as parts:
        assert (await over(http, await begun(http)))["state"] == "done"
        found = await parts.retriever.search(f"{shop(1)}的开门时间")
        assert found.passing_candidates[0].chunk.text == f"{shop(1)}早上 101 分开门"
        assert {engine.name for engine in generations.engines} == {"hash", "use"}
    await until(lambda: len(generations.engines) == 1)


@pytest.mark.acceptance(only=True)
async def test_what_comes_in_meanwhile_is_found_after_it(
    product: Served, http: httpx.AsyncClient, wide: type[WideEmbedder]
) -> None:
    await filled(product, 3)
    wide.pause.clear()
    run_id = await begun(http)
    await until(wide.waits.is_set)
    await product.container.ingestion.add("default", [document(7)])
    assert answered(await said(http, 7), 7)
    wide.pause.set()
    run = await over(http, run_id)
    assert (run["state"], run["result"]["chunks"]) == ("done", 4)
    await product.container.ingestion.add("default", [document(8)])
    for number in (1, 7, 8):
        assert answered(await said(http, number), number)


async def test_what_fails_or_is_cancelled_leaves_the_old_index(
    product: Served, http: httpx.AsyncClient, wide: type[WideEmbedder]
) -> None:
    await filled(product, 3)
    wide.fails = True
    run = await over(http, await begun(http))
    assert (run["state"], run["error"]["code"]) == ("failed", "embedding_unavailable")
    assert answered(await said(http, 1), 1) and wide.closed == 1
    wide.fails = False
    wide.waits.clear()
    wide.pause.clear()
    run_id = await begun(http)
    await until(wide.waits.is_set)
    await http.post(f"/api/v1/jobs/runs/{run_id}/cancel")
    wide.pause.set()
    await until(lambda: len(product.container.base.generations.engines) == 1)
    assert answered(await said(http, 1), 1)
    assert (await over(http, await begun(http)))["state"] == "done"
    assert answered(await said(http, 1), 1)


async def test_the_same_embedder_indexes_anew(product: Served, http: httpx.AsyncClient) -> None:
    await filled(product, 3)
    run = await over(http, await begun(http, ""))
    assert (run["result"]["embedder"], run["result"]["generation"]) == ("hash", 1)
    assert answered(await said(http, 2), 2)
    refused = await http.post(RUNS, json={"parameters": {"embedder": "none"}})
    assert refused.status_code == 409


@pytest.mark.acceptance(only=True)
async def test_tenants_have_embedders_of_their_own(product: Served, http: httpx.AsyncClient) -> None:
    container = product.container
    await filled(product, 2)
    await container.ingestion.add("other", [document(5)])
    await (await container.tenants.get_parts("other")).retriever.calibrate()
    assert (await over(http, await begun(http)))["state"] == "done"
    other = (await container.tenants.get_parts("other")).retriever
    assert (await other.search(f"{shop(5)}的开门时间")).passing_candidates
    assert (other.generation.engine.name, container.base.generations.default.engine.name) == ("hash", "use")


async def test_another_process_builds_its_own_index(product: Served, http: httpx.AsyncClient) -> None:
    await filled(product, 3)
    container = product.container
    assert await container.base.generations.stored.put("default", StoredGeneration(1, "use"))
    assert not await container.base.generations.stored.put("default", StoredGeneration(1, "hash"))
    await container.reindexing.follow_others()
    assert container.base.generations.default.engine.name == "use"
    assert answered(await said(http, 1), 1)


async def test_a_run_goes_on_from_what_another_process_made(product: Served, http: httpx.AsyncClient) -> None:
    await filled(product, 3)
    generations = product.container.base.generations
    assert await generations.stored.put("default", StoredGeneration(1, "use"))  # not followed here yet
    run = await over(http, await begun(http, ""))
    assert run["state"] == "done", run["error"]
    assert (run["result"]["embedder"], run["result"]["generation"]) == ("use", 2)
    assert answered(await said(http, 1), 1)


@pytest.mark.acceptance(only=True)
async def test_an_index_that_cannot_be_followed_keeps_no_other_tenant_from_following(product: Served) -> None:
    container = product.container
    await filled(product, 2)
    await container.ingestion.add("other", [document(5)])
    await (await container.tenants.get_parts("other")).retriever.calibrate()
    for tenant, embedder in (("default", "nobody knows it"), ("other", "use")):
        assert await container.base.generations.stored.put(tenant, StoredGeneration(1, embedder))
    await container.reindexing.follow_others()
    assert (await container.base.generations.get_current("other")).engine.name == "use"
    assert container.base.generations.default.engine.name == "hash"


@pytest.mark.parametrize("store", ["chroma", "milvus"])
async def test_the_next_start_opens_the_new_index(tmp_path: Path, wide: type[WideEmbedder], store: str) -> None:
    async with served(tmp_path, vector_store=store) as product:
        await filled(product, 3)
        async with httpx.AsyncClient(base_url=product.address, timeout=60) as http:
            assert (await over(http, await begun(http)))["state"] == "done"
    forget_clients()
    wide.fails = True  # nothing has to be embedded again
    async with served(tmp_path, vector_store=store) as product:
        await product.container.startup.serving.wait()
        index = (await product.container.tenants.get_parts("default")).retriever.index
        await until(lambda: len(index.get_snapshot()) == 3 and index.get_snapshot().centre.size > 0)
        async with httpx.AsyncClient(base_url=product.address, timeout=60) as http:
            assert answered(await said(http, 1), 1)


async def test_the_command_asks_the_server_that_runs(
    product: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    await filled(product, 3)
    monkeypatch.chdir(tmp_path)
    for name, value in {"DATA_DIR": str(tmp_path), "EMBEDDER": "hash", "VECTOR_STORE": "memory"}.items():
        monkeypatch.setenv(name, value)
    assert await asyncio.to_thread(reindex.main, ["--embedder", "use"]) == 0
    assert "租户 default：3 个片段" in capsys.readouterr().out
    assert product.container.base.generations.default.engine.name == "use"
