from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import digest_of
from tests.app.serving import Served, served

RETURNS = "# 退货说明\n\n## 退款\n\n退款在验货后 1～5 个工作日内原路退回。遇到节假日顺延，请耐心等候。\n"
QUESTION = "退款在验货后几个工作日内原路退回"


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        assert all(r.ready for r in await running.container.ingestion.add("default", [("退货.md", RETURNS.encode())]))
        await (await running.container.tenants.of("default")).retriever.calibrate()
        await KeyRepository(running.container.base.database).create("default", Role.CLIENT, "c", digest_of("client"))
        yield running


@pytest.fixture
async def client(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": "client"}) as client:
        yield client


async def asked(client: httpx.AsyncClient) -> tuple[dict[str, Any], str, dict[str, str]]:
    """A turn, the address of its first source, and the proof of its session."""
    turn = (await client.post("/api/v1/chat", json={"message": QUESTION})).json()
    path = f"/api/v1/conversations/{turn['session_id']}/messages/{turn['message_id']}/sources/1"
    return turn, path, {"X-Session-Token": turn["session_token"]}


async def test_a_customer_opens_the_passage_that_their_answer_cites(client: httpx.AsyncClient) -> None:
    turn, path, proof = await asked(client)
    passage = (await client.get(path, headers=proof)).json()
    cited = turn["data"]["sources"][0]
    assert passage["current"] and "遇到节假日顺延" in passage["text"]
    assert all(line in passage["text"] for line in cited["snippet"].split("\n"))
    assert [passage[name] for name in ("title", "heading", "page")] == [
        cited[name] for name in ("title", "heading", "page")
    ]


async def test_only_what_was_cited_in_the_own_conversation_opens(client: httpx.AsyncClient) -> None:
    _, path, proof = await asked(client)
    _, other, _ = await asked(client)
    assert (await client.get(path)).status_code == 403
    assert (await client.get(other, headers=proof)).status_code == 403
    mixed = path.rsplit("/messages/", 1)[0] + "/messages/" + other.rsplit("/messages/", 1)[1]
    for wrong in (mixed, path[:-1] + "9", path[:-1] + "0"):
        gone = await client.get(wrong, headers=proof)
        assert (gone.status_code, gone.json()["error"]["code"]) == (404, "source_not_found")


async def test_a_passage_that_is_gone_leaves_what_was_quoted(client: httpx.AsyncClient, product: Served) -> None:
    turn, path, proof = await asked(client)
    await product.container.bin.delete("default", turn["data"]["sources"][0]["document_id"])
    passage = (await client.get(path, headers=proof)).json()
    assert (passage["current"], passage["text"]) == (False, turn["data"]["sources"][0]["snippet"])
