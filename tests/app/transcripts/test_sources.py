from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from tests.app.serving import Served, served

RETURNS = "# 退货说明\n\n## 退款\n\n退款在验货后 1～5 个工作日内原路退回。遇到节假日顺延，请耐心等候。\n"
QUESTION = "退款在验货后几个工作日内原路退回"


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        assert all(r.ready for r in await running.container.ingestion.add("default", [("退货.md", RETURNS.encode())]))
        await (await running.container.tenants.get_parts("default")).retriever.calibrate()
        await KeyRepository(running.container.base.database).create("default", Role.CLIENT, "c", hash_key("client"))
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


async def test_what_the_answer_left_out_unfolds_at_its_place(client: httpx.AsyncClient, product: Served) -> None:
    text = (
        "# 改密码\n\n改密码要用旧密码。\n\n在设置里按下面的顺序改密码：\n\n1. 点头像；\n2. 点改密码。\n\n"
        "| 套餐 | 找回方式 |\n|-|-|\n| 标准版 | 邮件 |\n| 高级版 | 电话 |\n\n"
        f"{'账号长期不用会被冻结，请每年至少登录一次。' * 6}\n"
    )
    assert all(one.ready for one in await product.container.ingestion.add("default", [("密码.md", text.encode())]))
    turn = (await client.post("/api/v1/chat", json={"message": "改密码要按什么顺序"})).json()
    cited = turn["data"]["sources"][0]
    path = f"/api/v1/conversations/{turn['session_id']}/messages/{turn['message_id']}/sources/1"
    parts = (await client.get(path, headers={"X-Session-Token": turn["session_token"]})).json()["parts"]
    quoted = [part for part in parts if part["quoted"]]
    assert "1. 点头像；\n2. 点改密码。" in "\n".join(part["markdown"] for part in quoted)
    assert [number for part in quoted for number in part["blocks"]] == cited["quoted_blocks"]
    left = [part for part in parts if not part["quoted"]]
    assert sum(len(part["blocks"]) for part in left) == cited["left_blocks"] > 0 < cited["left_chars"]
    assert "冻结" in left[-1]["markdown"]


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
    assert passage["parts"] == []
