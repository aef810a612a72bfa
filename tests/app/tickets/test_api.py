from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.auth.user_token import sign_token
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.webhooks.signature import SIGNATURE, TIMESTAMP, sign_body
from tests.app.serving import Served, served
from tests.app.webhooks.test_webhooks import receiving

TICKETS, WEBHOOKS = "/api/v1/tickets", "/api/v1/webhooks"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, webhook_allow_private=True) as server:
        yield server


@pytest.fixture
async def client(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        yield client


async def say(client: httpx.AsyncClient, session: str, text: str, **fields: str) -> dict[str, Any]:
    response = await client.post("/api/v1/chat", json={"message": text, "session_id": session, **fields})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def registered(client: httpx.AsyncClient, session: str, **fields: str) -> str:
    """The number of a ticket that the conversation opened."""
    for text in ("帮我建个工单", "空调不制冷了，昨天开始的", "确认"):
        reply = (await say(client, session, text, **fields))["reply"]
    number: str = (await client.get(TICKETS, params={"session_id": session})).json()["tickets"][0]["number"]
    assert number in reply
    return number


async def test_a_conversation_opens_a_ticket_and_hears_what_staff_say_of_it(client: httpx.AsyncClient) -> None:
    number = await registered(client, "s1")
    ticket = (await client.get(f"{TICKETS}/{number}")).json()
    assert (ticket["subject"], ticket["state"], ticket["session_id"]) == ("空调不制冷了，昨天开始的", "open", "s1")
    assert ticket["sla"]["remaining_s"] == pytest.approx(48 * 3600, abs=60) and not ticket["sla"]["paused"]
    told = {"text": "师傅明天上午上门", "public": True, "author": "小王"}
    assert (await client.post(f"{TICKETS}/{number}/comments", json=told)).status_code == 201
    assert (await client.post(f"{TICKETS}/{number}/transitions", json={"to": "waiting"})).json()["sla"]["paused"]
    reply = (await say(client, "s1", "我的工单怎么样了"))["reply"]
    assert number in reply and "师傅明天上午上门" in reply and "等待您补充信息" in reply
    assert number not in (await say(client, "s2", f"{number} 怎么样了"))["reply"].replace("没有查到", "")
    assert "空调" not in (await say(client, "s2", "我的工单怎么样了"))["reply"]


async def test_a_proposal_is_typed_and_survives_a_restart(tmp_path: Path) -> None:
    for texts in (("帮我建个工单", "洗衣机一直漏水"), ("确认",)):
        async with (
            served(tmp_path) as server,
            httpx.AsyncClient(base_url=server.address, timeout=60) as client,
        ):
            for text in texts:
                body = await say(client, "s1", text)
            if texts[0] != "确认":
                proposal = body["data"]["proposal"]
                assert (proposal["action"], proposal["fields"]["subject"]) == ("ticket", "洗衣机一直漏水")
                assert (await client.get(TICKETS)).json()["total"] == 0
            else:
                assert (await client.get(TICKETS)).json()["total"] == 1
                assert "proposal" not in body["data"]


async def test_two_conversations_that_say_the_same_at_once_get_a_ticket_each(client: httpx.AsyncClient) -> None:
    sessions = [f"s{number}" for number in range(6)]
    for text in ("帮我建个工单", "门锁打不开了，进不了家", "确认"):
        await asyncio.gather(*(say(client, session, text) for session in sessions))
    tickets = (await client.get(TICKETS)).json()["tickets"]
    assert sorted(ticket["session_id"] for ticket in tickets) == sessions


async def test_a_second_change_of_the_same_version_is_a_conflict(client: httpx.AsyncClient) -> None:
    number = (await client.post(TICKETS, json={"subject": "发票重开"})).json()["number"]
    change = {"priority": "high", "version": 1}
    codes = [(await client.patch(f"{TICKETS}/{number}", json=change)).status_code for _ in range(2)]
    assert codes == [200, 409]
    closed = await client.post(f"{TICKETS}/{number}/transitions", json={"to": "closed"})
    assert closed.json()["state"] == "closed"
    again = await client.post(f"{TICKETS}/{number}/transitions", json={"to": "waiting"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "invalid_transition")
    assert (await client.get(f"{TICKETS}/TK000000000000")).json()["error"]["code"] == "ticket_not_found"


async def test_the_customers_key_manages_nothing(tmp_path: Path) -> None:
    key = "an-administrators-key-of-this-test"
    admin = {"Authorization": f"Bearer {key}"}
    async with (
        served(tmp_path, api_key=key) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        made = create_key()
        repository = KeyRepository(server.container.base.database)
        await repository.create("default", Role.CLIENT, "web", hash_key(made))
        headers = {"Authorization": f"Bearer {made}"}
        assert (await client.get(TICKETS, headers=headers)).status_code == 403
        assert (await client.get(WEBHOOKS, headers=headers)).status_code == 403
        assert (await client.get(WEBHOOKS, headers=admin)).status_code == 200
        assert (await client.get(TICKETS)).status_code == 401


async def test_a_ticket_belongs_to_whoever_proved_who_it_is(tmp_path: Path) -> None:
    secret, admin = "0123456789abcdef0123456789abcdef", "an-administrators-key-of-this-test"
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(served(tmp_path, api_key=admin, user_token_secret=secret))
        keys = KeyRepository(server.container.base.database)
        browser, backend, staff = [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=server.address, timeout=60, headers={"Authorization": f"Bearer {key}"})
            )
            for key in (create_key(), create_key(), admin)
        ]
        for client, role in ((browser, Role.CLIENT), (backend, Role.SERVER)):
            await keys.create("default", role, role.value, hash_key(client.headers["Authorization"].split()[1]))
        proof = sign_token(secret, "M1", 60, time.time())

        async def owner(client: httpx.AsyncClient, session: str, *texts: str, **fields: str) -> tuple[str, str]:
            """Number and owner of the ticket that comes of these messages."""
            for text in texts:
                body = await say(client, session, text, **fields)
                fields |= {"session_token": body["session_token"]} if "session_token" in body else {}
            (ticket,) = (await staff.get(TICKETS, params={"session_id": session})).json()["tickets"]
            return ticket["number"], ticket["user_id"]

        confirmed = "帮我建个工单", "空调不制冷了，昨天开始的", "确认"
        for kind, texts in (("talk", confirmed), ("desk", ("转人工",))):
            assert (await owner(browser, f"{kind}-claimed", *texts, user_id="M1"))[1] == ""
            assert (await owner(browser, f"{kind}-signed", *texts, user_token=proof))[1] == "M1"
            assert (await owner(backend, f"{kind}-trusted", *texts, user_id="M2"))[1] == "M2"
        number, _ = await owner(browser, "talk-signed")
        asked = f"{number} 怎么样了"
        assert "待处理" in (await say(browser, "elsewhere-1", asked, user_token=proof))["reply"]
        assert "没有查到" in (await say(browser, "elsewhere-2", asked, user_id="M1"))["reply"]
        assert "没有查到" in (await say(backend, "elsewhere-3", asked, user_id="M2"))["reply"]


async def test_a_ticket_of_the_conversation_reaches_the_webhook(client: httpx.AsyncClient) -> None:
    async with receiving() as receiver:
        body = {"url": receiver.url, "events": ["ticket.created"], "description": "工单系统"}
        made = (await client.post(WEBHOOKS, json=body)).json()
        tried = (await client.post(f"{WEBHOOKS}/{made['id']}/test")).json()
        assert tried == {"delivered": True, "status": 204, "error": ""}
        number = await registered(client, "s1")
        await receiver.wait(2)
        headers, sent = receiver.got[1]
        assert headers[SIGNATURE] == sign_body(made["secret"], headers[TIMESTAMP], sent)
        event = json.loads(sent)
        assert (event["event"], event["data"]["number"], event["data"]["session_id"]) == (
            "ticket.created",
            number,
            "s1",
        )
        listed = (await client.get(WEBHOOKS)).json()["webhooks"]
        assert [item["id"] for item in listed] == [made["id"]] and "secret" not in listed[0]
    assert (await client.delete(f"{WEBHOOKS}/{made['id']}")).status_code == 204
    assert (await client.get(f"{WEBHOOKS}/{made['id']}/deliveries")).status_code == 404


async def test_private_targets_are_refused_by_default(tmp_path: Path) -> None:
    async with served(tmp_path) as server, httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        for url in ("http://127.0.0.1/hook", "http://169.254.169.254/latest", "file:///etc/passwd"):
            refused = await client.post(WEBHOOKS, json={"url": url, "events": ["ticket.created"]})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "unsafe_target")
        unknown = await client.post(WEBHOOKS, json={"url": "https://example.com/", "events": ["everything"]})
        assert unknown.status_code == 422 or unknown.status_code == 400


async def test_anger_in_the_chat_asks_for_a_person(client: httpx.AsyncClient) -> None:
    body = await say(client, "s9", "气死我了！！！你们这群骗子，把钱还给我！")
    assert body["data"]["agent"] in ("care", "desk") and body["data"]["escalate_to_human"]
