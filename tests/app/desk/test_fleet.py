"""Two servers over one PostgreSQL: whichever a customer or a person is connected to, it is one conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.desk.client import talking
from tests.app.serving import served
from tests.services import postgres_database

Fleet = tuple[httpx.AsyncClient, httpx.AsyncClient]


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(postgres_database())
        clients = []
        for name in ("one", "two"):
            server = await stack.enter_async_context(served(tmp_path / name, _env_file=None, database_url=url))
            await server.container.startup.ready.wait()
            client = httpx.AsyncClient(base_url=server.address, timeout=60)
            clients.append(await stack.enter_async_context(client))
        yield clients[0], clients[1]


async def said(client: httpx.AsyncClient, message: str, session: str = "s") -> dict[str, Any]:
    response = await client.post("/api/v1/chat", json={"message": message, "session_id": session})
    body: dict[str, Any] = response.json()
    return body


async def test_a_word_on_the_proposal_of_the_other_server_opens_its_ticket(fleet: Fleet) -> None:
    here, there = fleet
    for session, word in enumerate(("麻烦提交，谢谢", "没问题，提交吧，家里周末都有人", "确认")):
        await said(here, "你好", f"s{session}")  # from here on this one knows the session, and nothing proposed in it
        for message in ("帮我建个工单", "空调不制冷了，昨天开始的"):
            assert "proposal" in (await said(there, message, f"s{session}"))["data"]
        reply = (await said(here, word, f"s{session}"))["reply"]
        (ticket,) = (await here.get("/api/v1/tickets", params={"session_id": f"s{session}"})).json()["tickets"]
        assert ticket["number"] in reply


async def test_a_person_on_one_server_has_the_customer_of_the_other(fleet: Fleet) -> None:
    here, there = fleet

    async with (
        talking(str(here.base_url).rstrip("/"), "/api/v1/conversations/s/ws?after=0") as customer,
        talking(str(there.base_url).rstrip("/"), "/api/v1/agent/ws?agent_id=amy&after=0") as staff,
    ):
        for round_ in range(3):
            assert (await said(here, "你好"))["outcome"] == "answered"
            assert (await there.post("/api/v1/conversations/s/handoff", json={})).json()["state"] == "queued"
            assert (await there.post("/api/v1/agent/sessions/s/accept", json={"agent_id": "amy"})).status_code == 200
            assert (await said(here, f"第{round_}次"))["outcome"] == "handoff"  # at once, before any poll
            await staff.until(lambda frame, text=f"第{round_}次": frame.get("content") == text)  # type: ignore[misc]
            await staff.send("message", session_id="s", content=f"回{round_}")
            await customer.until(lambda frame, text=f"回{round_}": frame.get("content") == text)  # type: ignore[misc]
            assert (await there.post("/api/v1/agent/sessions/s/resolve", json={})).status_code == 200
        assert (await said(here, "你好"))["outcome"] == "answered"
        last = (await here.get("/api/v1/agent/sessions/s")).json()["messages"]
        for talker in (customer, staff):
            await talker.until(lambda frame: frame.get("seq") == last)
            sequence = [frame["seq"] for frame in talker.of("message")]
            assert sequence == list(range(1, last + 1))
