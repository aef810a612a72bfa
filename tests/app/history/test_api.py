"""What staff see of customers and conversations of before, over the interface."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.auth.principal import Role
from app.db.base import now
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app
from app.settings import Settings

DESK, AGENT, CONVERSATIONS = "/api/v1/agent/sessions", "/api/v1/agent", "/api/v1/conversations"
PAGE = {"url": "https://shop.example/p/1?token=secret", "title": "降噪耳机"}


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    settings = Settings(
        _env_file=None, data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False
    )
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def http(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


async def call(http: httpx.AsyncClient, method: str, path: str, expected: int = 200, **options: Any) -> Any:
    response = await http.request(method, path, **options)
    assert response.status_code == expected, response.text
    return response.json() if response.content else None


async def say(http: httpx.AsyncClient, text: str, session: str = "s", **fields: Any) -> None:
    await call(http, "POST", "/api/v1/chat", json={"message": text, "session_id": session} | fields)


async def serve(http: httpx.AsyncClient, session: str = "s", agent: str = "amy") -> dict[str, Any]:
    await call(http, "POST", f"{CONVERSATIONS}/{session}/handoff", json={"channel": "web"})
    taken: dict[str, Any] = await call(http, "POST", f"{DESK}/{session}/accept", json={"agent_id": agent})
    return taken


async def mine(http: httpx.AsyncClient, agent: str = "amy") -> list[dict[str, Any]]:
    sessions: list[dict[str, Any]] = (await call(http, "GET", DESK, params={"agent_id": agent}))["sessions"]
    return sessions


async def test_what_is_unread_and_was_said_last_comes_from_the_server(http: httpx.AsyncClient) -> None:
    await serve(http)
    assert [(one["unread"], one["last_message"]) for one in await mine(http)] == [(0, None)]
    await say(http, "在吗")
    await say(http, "我的订单呢")
    [session] = await mine(http)
    assert (session["unread"], session["last_message"]["content"]) == (2, "我的订单呢")
    read = {"agent_id": "amy", "seq": session["messages"], "viewing": True}
    assert await call(http, "PUT", f"{DESK}/s/read", json=read) == {"unread": 0, "viewers": []}
    assert (await call(http, "PUT", f"{DESK}/s/read", json=read | {"seq": 0}))["unread"] == 0  # never back
    other = await call(http, "PUT", f"{DESK}/s/read", json={"agent_id": "bob", "seq": 1, "viewing": True})
    assert other["viewers"] == [{"agent_id": "amy", "name": "amy"}]
    detail = await call(http, "GET", f"{DESK}/s", params={"agent_id": "amy"})
    assert [one["agent_id"] for one in detail["viewers"]] == ["bob"] and detail["unread"] == 0
    await call(http, "PUT", f"{DESK}/s/read", json={"agent_id": "bob", "seq": 1})
    assert (await call(http, "GET", f"{DESK}/s", params={"agent_id": "amy"}))["viewers"] == []
    await call(http, "POST", f"{AGENT}/staff/bob/presence", 204, json={"online": True})
    await call(http, "POST", f"{DESK}/s/transfer", json={"agent_id": "bob", "by": "amy"})
    assert [one["session_id"] for one in (await call(http, "GET", f"{DESK}/recent?agent_id=amy"))["sessions"]] == ["s"]
    await call(http, "POST", f"{DESK}/s/resolve", json={"agent_id": "bob"})
    recent = (await call(http, "GET", f"{DESK}/recent", params={"agent_id": "bob"}))["sessions"]
    assert [(one["session_id"], one["state"]) for one in recent] == [("s", "resolved")]
    await call(http, "PUT", f"{DESK}/nowhere/read", 404, json=read)
    await call(http, "PUT", f"{DESK}/s/read", 422, json=read | {"seq": -1})
    await call(http, "GET", f"{DESK}/recent", 422)


async def test_who_was_handed_a_session_has_it_to_read(http: httpx.AsyncClient) -> None:
    await serve(http)
    await call(http, "POST", f"{AGENT}/staff/bob/presence", 204, json={"online": True})
    await call(http, "POST", f"{DESK}/s/transfer", json={"agent_id": "bob", "by": "amy"})
    assert [one["unread"] for one in await mine(http, "bob")] == [1]


async def test_a_customer_has_a_name_a_journey_and_a_page(http: httpx.AsyncClient) -> None:
    await say(http, "耳机怎么充电", page=PAGE, channel="web")
    taken = await serve(http)
    customer = taken["customer"]
    assert customer["kind"] == "visitor" and customer["alias"][:2] and 0 <= customer["colour"] <= 7
    contact = await call(http, "GET", f"{DESK}/s/contact")
    assert contact["customer"]["alias"] == customer["alias"] and contact["language"] == "zh"
    assert [(one["url"], one["title"], one["visits"]) for one in contact["visits"]] == [
        ("https://shop.example/p/1", "降噪耳机", 1)
    ]
    await call(http, "POST", f"{DESK}/s/notes", 201, json={"content": "老顾客", "agent_id": "amy"})
    ticket = await call(http, "POST", "/api/v1/tickets", 201, json={"subject": "换耳机", "session_id": "s"})
    history = await call(http, "GET", f"{CONVERSATIONS}/s")
    message = history["turns"][0]["message_id"]
    await call(http, "PUT", f"{CONVERSATIONS}/s/messages/{message}/feedback", 204, json={"rating": "down"})
    seen = {"url": "https://shop.example/cart#x", "title": "购物车"}
    await call(http, "POST", f"{CONVERSATIONS}/s/visits", 204, json=seen)
    await call(http, "POST", f"{CONVERSATIONS}/s/visits", 204, json={"url": "javascript:alert(1)"})
    await call(http, "POST", f"{CONVERSATIONS}/s/visits", 422, json={"url": "x" * 2049})
    await call(http, "POST", f"{CONVERSATIONS}/nowhere/visits", 404, json=seen)
    assert (await call(http, "GET", f"{DESK}/s/contact"))["visits"][0]["url"] == "https://shop.example/cart"
    named = {"name": "  王总 ", "labels": ["大客户", "大客户", "<b>x</b>"]}
    assert (await call(http, "PUT", f"{DESK}/s/contact", json=named))["given"] == "王总"
    contact = await call(http, "GET", f"{DESK}/s/contact")
    assert contact["customer"]["labels"] == ["<b>x</b>", "大客户"] and contact["total"] == 1
    assert ticket["number"] in [one["number"] for one in contact["tickets"]]
    assert [one["content"] for one in contact["notes"]] == ["老顾客"]
    assert [one["rating"] for one in contact["votes"]] == ["down"]
    assert contact["conversations"][0]["ticket"]
    assert (await mine(http))[0]["customer"]["given"] == "王总"
    shown = (await http.get(f"{CONVERSATIONS}/s/history")).text
    assert "王总" not in shown and "大客户" not in shown and "老顾客" not in shown
    await call(http, "PUT", f"{DESK}/s/contact", 422, json={"name": "x" * 65})
    await call(http, "PUT", f"{DESK}/s/contact", 422, json={"labels": [""]})
    await call(http, "GET", f"{DESK}/nowhere/contact", 404)
    await call(http, "PUT", f"{DESK}/nowhere/contact", 404, json={"name": "x"})
    await call(http, "DELETE", f"{CONVERSATIONS}/s", 204)
    await call(http, "GET", f"{DESK}/s/contact", 404)
    assert (await call(http, "GET", f"{AGENT}/labels"))["labels"] == []


async def test_a_member_is_shown_by_the_masked_name_and_level_of_the_business_database(tmp_path: Path) -> None:
    from agents.business.sample.database import seed_database

    file = tmp_path / "shop.db"
    await seed_database(f"sqlite:///{file}", now().date())
    settings = Settings(
        _env_file=None,
        data_dir=tmp_path / "data",
        embedder="hash",
        vector_store="memory",
        samples_enabled=False,
        business_database_url=f"sqlite:///{file}",
    )
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        await say(http, "你好", user_id="M0001")
        await say(http, "你好", "other", user_id="M0001")
        customer = (await serve(http))["customer"]
        assert customer["kind"] == "member" and customer["user_id"] == "M0001"
        assert customer["name"].endswith("*") and customer["level"].endswith("笙")
        contact = await call(http, "GET", f"{DESK}/s/contact")
        assert sorted(one["session_id"] for one in contact["conversations"]) == ["other", "s"]


async def test_staff_put_sessions_in_order(http: httpx.AsyncClient) -> None:
    await serve(http)
    later = (now() + timedelta(hours=2)).isoformat()
    patched = await call(http, "PATCH", f"{DESK}/s", json={"priority": 2, "snoozed_until": later, "agent_id": "amy"})
    assert patched["priority"] == 2 and patched["snoozed_until"] and patched["card"]["priority"] == 2
    assert (await call(http, "PATCH", f"{DESK}/s", json={"priority": 0}))["priority"] == 0
    assert (await mine(http))[0]["snoozed_until"]
    await say(http, "怎么还没回")
    assert (await mine(http))[0]["snoozed_until"] is None
    await call(http, "PATCH", f"{DESK}/s", json={"snoozed_until": later})
    assert (await call(http, "PATCH", f"{DESK}/s", json={"snoozed_until": None}))["snoozed_until"] is None
    await call(http, "PATCH", f"{DESK}/s", 409, json={"snoozed_until": later, "agent_id": "bob"})
    for bad in ((now() - timedelta(minutes=1)).isoformat(), (now() + timedelta(days=31)).isoformat()):
        assert (await call(http, "PATCH", f"{DESK}/s", 400, json={"snoozed_until": bad}))["error"][
            "code"
        ] == "bad_snooze"
    await call(http, "PATCH", f"{DESK}/s", 422, json={"priority": 3})
    await call(http, "PATCH", f"{DESK}/nowhere", 404, json={"priority": 1})
    await call(http, "POST", f"{DESK}/s/resolve", json={"agent_id": "amy"})
    await call(http, "PATCH", f"{DESK}/s", 409, json={"priority": 1})
    await call(http, "PUT", f"{DESK}/s/labels", 204, json={"labels": ["退款"]})
    await call(http, "PUT", f"{DESK}/nowhere/labels", 404, json={"labels": ["退款"]})
    await call(http, "PUT", f"{DESK}/s/labels", 422, json={"labels": ["x"] * 21})
    [found] = (await call(http, "GET", f"{AGENT}/history", params={"label": "退款"}))["conversations"]
    assert found["labels"] == ["退款"] and found["state"] == "resolved"


async def test_history_is_searched_and_kept_in_views(http: httpx.AsyncClient) -> None:
    await say(http, "发票抬头能改吗")
    await say(http, "快递到哪了", "other")
    await serve(http)
    await call(http, "POST", f"{DESK}/s/resolve", json={"agent_id": "amy"})
    params = {"q": "发票抬头", "standing": "ended", "agent_id": "amy"}
    page = await call(http, "GET", f"{AGENT}/history", params=params)
    assert page["total"] == 1 and "发票抬头" in page["conversations"][0]["snippet"]
    assert page["conversations"][0]["customer"]["kind"] == "visitor"
    everything = await call(http, "GET", f"{AGENT}/history", params={"limit": 1, "offset": 1})
    assert everything["total"] == 2 and len(everything["conversations"]) == 1
    for bad in ({"standing": "x"}, {"priority": 9}, {"limit": 101}, {"since": "yesterday"}):
        await call(http, "GET", f"{AGENT}/history", 422, params=bad)
    view = {"name": "发票", "agent_id": "amy", "filter": {"q": "发票", "days": 7, "priority": 0}}
    kept = await call(http, "POST", f"{AGENT}/views", 201, json=view)
    shared = await call(http, "POST", f"{AGENT}/views", 201, json=view | {"name": "公用", "shared": True})
    assert kept["filter"]["q"] == "发票" and kept["filter"]["days"] == 7 and not kept["shared"]
    seen = (await call(http, "GET", f"{AGENT}/views", params={"agent_id": "bob"}))["views"]
    assert [one["id"] for one in seen] == [shared["id"]]
    assert len((await call(http, "GET", f"{AGENT}/views", params={"agent_id": "amy"}))["views"]) == 2
    await call(http, "POST", f"{AGENT}/views", 422, json=view | {"filter": {"unknown": 1}})
    await call(http, "DELETE", f"{AGENT}/views/{kept['id']}", 204)
    await call(http, "DELETE", f"{AGENT}/views/{kept['id']}", 404)


async def test_all_of_it_is_for_the_staff_of_the_tenant(app: FastAPI, http: httpx.AsyncClient) -> None:
    await say(http, "暗号")
    await serve(http)
    await call(http, "PUT", f"{DESK}/s/contact", json={"name": "王总", "labels": ["大客户"]})
    keys = KeyRepository(app.state.container.base.database)
    for tenant, role in (
        ("default", Role.CLIENT),
        ("default", Role.SERVER),
        ("default", Role.AGENT),
        ("other", Role.AGENT),
    ):
        await keys.create(tenant, role, "k", hash_key(f"{tenant}-{role}"))
    app.state.container.keys.expire_copy()
    own = {"name": "v", "agent_id": "a", "filter": {}}
    calls: list[tuple[str, str, Any]] = [
        ("GET", f"{AGENT}/history?q=暗号", None), ("GET", f"{AGENT}/labels", None), ("GET", f"{AGENT}/views", None),
        ("POST", f"{AGENT}/views", own), ("GET", f"{DESK}/s/contact", None), ("PUT", f"{DESK}/s/contact", {}),
        ("PUT", f"{DESK}/s/labels", {"labels": ["x"]}), ("PATCH", f"{DESK}/s", {"priority": 2}),
        ("PUT", f"{DESK}/s/read", {"agent_id": "a", "seq": 1}), ("GET", f"{DESK}/recent?agent_id=amy", None),
    ]  # fmt: skip
    for method, path, body in calls:
        for role in (Role.CLIENT, Role.SERVER):
            headers = {"X-API-Key": f"default-{role}"}
            assert (await http.request(method, path, json=body, headers=headers)).status_code == 403, path
        told = await http.request(method, path, json=body, headers={"X-API-Key": f"other-{Role.AGENT}"})
        assert told.status_code in (200, 201, 404) and "王总" not in told.text and "大客户" not in told.text, path
        assert "暗号" not in told.text and (told.status_code == 404) == ("/s" in path.partition("sessions")[2]), path
    headers = {"X-API-Key": f"default-{Role.AGENT}"}
    contact = await call(http, "GET", f"{DESK}/s/contact", headers=headers)
    assert contact["customer"]["given"] == "王总"
