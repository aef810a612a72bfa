"""What a customer sees of the own conversation after a reload."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from app.auth.principal import Role
from app.conversations.tables import StoredTurn
from app.db.engine import Database
from app.desk.tables import DeskEvent, DeskMessageRow
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.transcripts.repository_history import HistoryPlace, HistoryRepository
from app.types import SessionKey
from tests.app.serving import served

CONVERSATIONS, DESK = "/api/v1/conversations", "/api/v1/agent/sessions"
SETTINGS: dict[str, Any] = {"api_key": "the-first-admin-key", "similarity_threshold": 0, "confident_threshold": 0}
SETTINGS |= {"clarify_threshold": 0}
GUIDE = "# 退货说明\n\n## 运费\n\n七天无理由退货，运费由顾客承担；质量问题由商家承担。\n"


@dataclass
class Talk:
    customer: httpx.AsyncClient
    database: Database
    session_id: str

    async def history(self, **query: Any) -> dict[str, Any]:
        response = await self.customer.get(f"{CONVERSATIONS}/{self.session_id}/history", params=query)
        assert response.status_code == 200, response.text
        return dict(response.json())


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    """Asked and rated, handed over, served and resolved, with notes of staff."""
    async with (
        served(tmp_path, **SETTINGS) as server,
        httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": "the-first-admin-key"}) as staff,
        httpx.AsyncClient(base_url=server.address, timeout=60) as customer,
    ):
        key, database = create_key(), server.container.base.database
        await KeyRepository(database).create("default", Role.CLIENT, "web", hash_key(key))
        server.container.keys._fresh_until = float("-inf")
        customer.headers.update({"X-API-Key": key, "Sec-Fetch-Site": "same-origin"})
        files = {"files": ("退货说明.md", GUIDE.encode())}
        await staff.post("/api/v1/knowledge/documents", files=files, params={"wait": 30})
        await staff.put("/api/v1/agent/staff/a01", json={"name": "王敏"})
        session = (await customer.post("/api/v1/sessions", json={"cookie": True})).json()["session_id"]
        asked = {"message": "退货运费由谁承担", "session_id": session}
        said = (await customer.post("/api/v1/chat", json=asked)).json()
        feedback = f"{CONVERSATIONS}/{session}/messages/{said['message_id']}/feedback"
        await customer.put(feedback, json={"rating": "down", "reason": "太长"})
        await customer.post(f"{CONVERSATIONS}/{session}/handoff", json={})
        await staff.post(f"{DESK}/{session}/accept", json={"agent_id": "a01"})
        await staff.post(f"{DESK}/{session}/messages", json={"content": "您好，我来处理", "agent_id": "a01"})
        await customer.post("/api/v1/chat", json={"message": "好的", "session_id": session})
        await staff.post(f"{DESK}/{session}/resolve", json={"note": "内部说明：老客户", "agent_id": "a01"})
        yield Talk(customer, database, session)


async def test_it_restores_the_whole_view_without_what_is_for_staff(talk: Talk) -> None:
    seen = await talk.history()
    entries = seen["entries"]
    assert [entry["who"] for entry in entries if entry["text"]][:2] == ["customer", "bot"]
    bot = next(entry for entry in entries if entry["who"] == "bot")
    assert (bot["rating"], bot["reason"]) == ("down", "太长")
    assert bot["outcome"] == "answered" and bot["sources"][0]["title"] == "退货说明" and bot["message_id"]
    written = next(entry for entry in entries if entry["who"] == "staff")
    assert (written["name"], written["text"]) == ("王敏", "您好，我来处理") and written["seq"]
    events = [entry["event"] for entry in entries if entry["event"]]
    assert events == ["request", "accept", "resolve"]
    assert [entry["text"] for entry in entries if entry["who"] == "customer"] == ["退货运费由谁承担", "好的"]
    assert seen["handoff"]["state"] == "resolved" and seen["last_seq"] >= written["seq"]
    assert seen["previous"] is None
    times = [entry["created_at"] for entry in entries]
    assert times == sorted(times)
    assert "内部说明" not in str(seen)
    assert not {"decision", "trace_id", "timings_ms", "note", "card"} & set(str(seen).replace("'", " ").split())


async def test_pages_follow_one_another_without_gap_or_repetition_also_of_what_came_at_once(talk: Talk) -> None:
    whole = (await talk.history())["entries"]
    for limit in (1, 2, 3):
        seen: list[Any] = []
        before: dict[str, str] = {}
        while True:
            page = await talk.history(limit=limit, **before)
            seen[:0] = page["entries"]
            if page["previous"] is None:
                break
            before = {"before": page["previous"]}
        assert seen == whole
    async with talk.database.write() as connection:
        for table in (StoredTurn, DeskEvent, DeskMessageRow):
            await connection.execute(
                update(table).values(created_at=HistoryPlace.from_cursor("1700000000123456-0-1").created_at)
            )
    repository, key = HistoryRepository(talk.database), SessionKey("default", talk.session_id)
    items, place = list((await repository.read(key, 50)).items), None
    one_by_one: list[Any] = []
    while not one_by_one or place is not None:
        page_ = await repository.read(key, 1, place)
        one_by_one[:0], place = page_.items, page_.previous and HistoryPlace.from_cursor(str(page_.previous))
    assert one_by_one == items and len(items) > 4
    wrong = await talk.customer.get(f"{CONVERSATIONS}/{talk.session_id}/history", params={"before": "x"})
    assert wrong.status_code == 422


async def test_a_members_rows_are_for_the_member_alone(talk: Talk) -> None:
    async with talk.database.write() as connection:
        await connection.execute(update(StoredTurn).values(rows_of="M0001"))
    bots = [entry for entry in (await talk.history())["entries"] if entry["who"] == "bot"]
    assert bots and all(entry["withheld"] and not entry["text"] and not entry["sources"] for entry in bots)
