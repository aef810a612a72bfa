"""What leans on the turns before it is answered from where the conversation is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.understanding.state import DialogueState
from tests.app.serving import Served, served

EARPHONES = "# 云笙耳机\n\n云笙耳机的充电时间约为 40 分钟。\n\n云笙耳机的续航时间约为 6 小时。\n"
WATCH = "# 云笙手表\n\n云笙手表的充电时间约为 90 分钟。\n\n云笙手表的续航时间约为 14 天。\n"
INVOICES = "# 发票开具\n\n订单完成后在订单详情里申请开发票，电子发票 24 小时内开出。\n"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        files = [(f"{text[2:6]}.md", text.encode()) for text in (EARPHONES, WATCH, INVOICES)]
        assert all(report.ready for report in await server.container.ingestion.add("default", files))
        await (await server.container.tenants.get_parts("default")).retriever.calibrate()
        yield server


@pytest.fixture
async def client(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        yield client


async def say(client: httpx.AsyncClient, text: str, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = (await client.post("/api/v1/chat", json={"message": text, **fields})).json()
    return body


async def state_of(server: Served, session: str) -> DialogueState:
    [row] = await server.container.conversations.load_last_turns("default", session, 1)
    return DialogueState.from_json(row.state)


@pytest.mark.parametrize(("product", "answer"), [("云笙耳机", "6 小时"), ("云笙手表", "14 天")])
async def test_two_words_are_answered_from_the_document_of_the_answer_before(
    client: httpx.AsyncClient, product: str, answer: str
) -> None:
    first = await say(client, f"{product}的充电时间约为多少分钟", session_id="s")
    assert [source["title"] for source in first["data"]["sources"]] == [product]
    second = await say(client, "续航时间", session_id="s")
    assert second["data"]["sources"][0]["title"] == product
    assert answer in second["reply"]


async def test_small_talk_between_leaves_the_conversation_where_it_was(
    server: Served, client: httpx.AsyncClient
) -> None:
    await say(client, "云笙手表的充电时间约为多少分钟", session_id="s")
    before = await state_of(server, "s")
    assert (await say(client, "谢谢", session_id="s"))["data"]["agent"] == "chitchat"
    assert await state_of(server, "s") == before
    assert "14 天" in (await say(client, "续航时间", session_id="s"))["reply"]


async def test_a_first_message_out_of_the_cache_is_carried_on_and_later_ones_do_not_come_out_of_it(
    server: Served, client: httpx.AsyncClient
) -> None:
    """The cache of answers knows no conversation: whatever is said in one is searched behind what was said before."""
    first, then = "云笙手表的充电时间约为多少分钟", "订单完成后在哪里申请开发票"
    for question in (first, then):
        await say(client, question)
    assert (await say(client, first, session_id="s"))["data"]["cached"]
    assert not (await say(client, then, session_id="s"))["data"]["cached"]
    state = await state_of(server, "s")
    assert state.questions == (first, then)
    assert len(state.topics) == 2


async def test_of_a_new_conversation_nothing_was_said(server: Served, client: httpx.AsyncClient) -> None:
    await say(client, "云笙手表的充电时间约为多少分钟", session_id="one")
    await say(client, "续航时间", session_id="another")
    assert (await state_of(server, "another")).questions == ("续航时间",)


async def test_without_history_there_is_no_context(tmp_path: Path) -> None:
    async with (
        served(tmp_path, history_turns=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        for text in ("云笙手表", "云笙耳机"):
            await say(client, text, session_id="s")
        assert (await state_of(server, "s")).questions == ("云笙耳机",)
