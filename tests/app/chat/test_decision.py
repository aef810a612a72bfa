"""Why these agents answered: the company's own keys are told, customers are not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from tests.app.desk.client import talking
from tests.app.serving import Served, served

CHAT = "/api/v1/chat"
KEYS = {role: f"the-first-{role}-key" for role in Role}
INSIDE = [role for role in Role if role not in (Role.CLIENT, Role.METRICS)]
INVOICES = "# 发票开具\n\n订单完成后在订单详情里申请开发票，电子发票 24 小时内开出。\n"
QUESTION = "订单完成后在哪里申请开发票"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=KEYS[Role.ADMIN]) as server:
        for role in (Role.LEAD, Role.AGENT, Role.SERVER, Role.CLIENT):
            await KeyRepository(server.container.base.database).create("default", role, role, hash_key(KEYS[role]))
        await server.container.ingestion.add("default", [("发票.md", INVOICES.encode())])
        await (await server.container.tenants.get_parts("default")).retriever.calibrate()
        yield server


@pytest.fixture
async def http(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        yield client


async def told(http: httpx.AsyncClient, role: Role) -> list[dict[str, Any]]:
    """What stands beside a reply: of the answer at once, of the stream, and of OpenAI's interface in both ways."""
    headers = {"X-API-Key": KEYS[role]}
    body = {"message": QUESTION}
    asked: dict[str, Any] = {"model": "yingda", "messages": [{"role": "user", "content": QUESTION}]}
    whole = (await http.post(CHAT, json=body, headers=headers)).json()
    streamed = (await http.post(f"{CHAT}/stream", json=body, headers=headers)).text
    completion = (await http.post("/v1/chat/completions", json=asked, headers=headers)).json()
    chunks = (await http.post("/v1/chat/completions", json=asked | {"stream": True}, headers=headers)).text
    return [whole["data"], frames(streamed)[-1]["data"], completion["yingda"], frames(chunks)[-1]["yingda"]]


def frames(streamed: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: {")]


@pytest.mark.parametrize("role", INSIDE)
async def test_keys_of_the_company_are_told_why(http: httpx.AsyncClient, role: Role) -> None:
    for data in await told(http, role):
        decision = data["decision"]
        assert decision["intents"] == ["knowledge_qa"] and decision["why"] == "knowledge_qa: found"
        [bid] = [bid for bid in decision["bids"] if bid["intent"] == "knowledge_qa"]
        assert bid == {
            "intent": "knowledge_qa",
            "probability": pytest.approx(data["confidence"], abs=1e-2),
            "rank": "looks_up",
            "why": "found",
        }


async def test_a_key_that_may_be_in_anybodys_browser_is_not(http: httpx.AsyncClient) -> None:
    """Neither for what was computed for it nor for what others were told before it; what is stored says why."""
    await told(http, Role.SERVER)
    for data in await told(http, Role.CLIENT):
        assert data["sources"] and "decision" not in data
    own = {"X-API-Key": KEYS[Role.CLIENT]}
    body = (await http.post(CHAT, json={"message": QUESTION, "session_id": "theirs"}, headers=own)).json()
    assert body["data"]["cached"] and "decision" not in body["data"]
    staff = {"X-API-Key": KEYS[Role.AGENT]}
    transcript = (await http.get("/api/v1/conversations/theirs", headers=staff)).json()
    assert transcript["turns"][0]["data"]["decision"]["intents"] == ["knowledge_qa"]
    refused = await http.get("/api/v1/conversations/theirs", headers=own)
    assert refused.status_code == 403


async def test_nor_is_the_customer_at_the_socket(server: Served, http: httpx.AsyncClient) -> None:
    headers = {"X-API-Key": KEYS[Role.CLIENT]}
    begun = (await http.post(CHAT, json={"message": QUESTION, "session_id": "s"}, headers=headers)).json()
    proof = headers | {"X-Session-Token": begun["session_token"]}
    async with talking(server.address, "/api/v1/conversations/s/ws?after=0", additional_headers=proof) as customer:
        await customer.send("message", content=QUESTION, id="1")
        done = await customer.until(lambda frame: frame["type"] == "done")
        assert done["data"]["sources"] and "decision" not in json.dumps(customer.frames)


async def test_who_asks_from_this_machine_without_keys_is_told(tmp_path: Path) -> None:
    async with (
        served(tmp_path) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as http,
    ):
        data = (await http.post(CHAT, json={"message": "你好"})).json()["data"]
        assert data["decision"]["intents"] == ["chitchat"]
        rejected = (await http.post(CHAT, json={"message": " "})).json()["data"]
        assert "decision" not in rejected
