from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.traces.tables import StoredTrace
from tests.app.serving import Served, served

RETURNS = "# 退货说明\n\n退款在验货后 1～5 个工作日内原路退回。\n\n## 运费\n\n质量问题的退货运费由商城承担。\n"
QUESTION = "退款在验货后几个工作日内原路退回"
PATH = "/api/v1/traces"


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        assert all(r.ready for r in await running.container.ingestion.add("default", [("退货.md", RETURNS.encode())]))
        await (await running.container.tenants.get_parts("default")).retriever.calibrate()
        yield running


@pytest.fixture
async def client(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address) as client:
        yield client


async def ask(client: httpx.AsyncClient, message: str = QUESTION, **fields: Any) -> dict[str, Any]:
    response = await client.post("/api/v1/chat", json={"message": message} | fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def test_a_turn_tells_what_was_searched_found_and_decided_by_its_id_and_by_its_request(
    client: httpx.AsyncClient,
) -> None:
    turn = await ask(client)
    trace = (await client.get(f"{PATH}/{turn['message_id']}")).json()
    assert (await client.get(f"{PATH}/{turn['data']['trace_id']}")).json() == trace
    assert (trace["question"], trace["reply"], trace["outcome"]) == (QUESTION, turn["reply"], turn["outcome"])
    assert trace["decision"] == turn["data"]["decision"]
    evidence = trace["evidence"]
    assert evidence["hypotheses"][0] == {"text": QUESTION, "kind": "asked"}
    best = evidence["candidates"][0]
    assert (best["rank"], best["vector_rank"], best["keyword_rank"], best["hypothesis"]) == (1, 1, 1, 0)
    assert best["probability"] >= evidence["threshold"] and best["stage"] == "passed"
    assert best["document_id"] == turn["data"]["sources"][0]["document_id"]
    assert evidence["recalled"]["fused"] == len(evidence["candidates"])
    assert trace["route"]["intents"] and trace["model"]["calls"] == 0


async def test_a_question_in_a_conversation_shows_the_form_behind_the_one_before(client: httpx.AsyncClient) -> None:
    first = await ask(client)
    second = await ask(client, "那运费呢", session_id=first["session_id"], session_token=first.get("session_token", ""))
    evidence = (await client.get(f"{PATH}/{second['message_id']}")).json()["evidence"]
    assert "in_context" in [form["kind"] for form in evidence["hypotheses"]]


async def test_a_cached_answer_says_so_instead_of_showing_a_search_of_another(client: httpx.AsyncClient) -> None:
    await ask(client)
    again = await ask(client)
    trace = (await client.get(f"{PATH}/{again['message_id']}")).json()
    assert trace["cached"] and trace["evidence"] is None and trace["decision"] == again["data"]["decision"]


async def test_a_trace_goes_with_its_conversation(client: httpx.AsyncClient, product: Served) -> None:
    turn = await ask(client)
    assert (await client.delete(f"/api/v1/conversations/{turn['session_id']}")).status_code == 204
    gone = await client.get(f"{PATH}/{turn['message_id']}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "trace_not_found")
    async with product.container.base.database.read() as connection:
        assert (await connection.execute(select(func.count()).select_from(StoredTrace))).scalar_one() == 0


@pytest.mark.parametrize(
    "role, tenant, status",
    [
        (Role.AGENT, "default", 200),
        (Role.CLIENT, "default", 403),
        (Role.SERVER, "default", 403),
        (Role.ADMIN, "b", 404),
    ],
)
async def test_it_is_for_the_staff_of_the_tenant_alone(
    client: httpx.AsyncClient, product: Served, role: Role, tenant: str, status: int
) -> None:
    turn = await ask(client)
    await KeyRepository(product.container.base.database).create(tenant, role, "k", hash_key("secret"))
    product.container.keys.expire_copy()
    found = await client.get(f"{PATH}/{turn['message_id']}", headers={"X-API-Key": "secret"})
    assert found.status_code == status


async def test_a_trace_is_a_few_kilobytes_however_much_was_found(client: httpx.AsyncClient, product: Served) -> None:
    text = "\n\n".join(f"## 规定{n}\n\n退款在验货后 {n} 个工作日内原路退回，说明{'很' * 250}长。" for n in range(40))
    await product.container.ingestion.add("default", [("长.md", f"# 长\n\n{text}".encode())])
    await ask(client, QUESTION + "？" + "还有运费由谁承担？" * 5)
    async with product.container.base.database.read() as connection:
        size = func.max(func.length(StoredTrace.body))
        assert 200 < (await connection.execute(select(size))).scalar_one() < 6000
