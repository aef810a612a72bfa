"""The business data that a person at the desk is helped with: the rows of the customer who is served, no others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.business.sample.database import seed_database
from tests.app.serving import served

DESK = "/api/v1/agent/sessions"
MEMBER, OTHER = "M0001", "M0003"


@dataclass(frozen=True, slots=True)
class Desk:
    """A served shop with a session of MEMBER's, one of OTHER's and one of nobody's, and the rows behind."""

    http: httpx.AsyncClient
    rows: dict[str, list[dict[str, Any]]]

    async def helped(self, session: str, question: str = "") -> dict[str, Any]:
        response = await self.http.get(
            f"{DESK}/{session}/business-assist", params={"question": question} if question else {}
        )
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    def orders(self, member: str) -> set[str]:
        return {row["id"] for row in self.rows["orders"] if row["member_id"] == member}

    def member(self, number: str) -> dict[str, Any]:
        return next(row for row in self.rows["members"] if row["id"] == number)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    url = f"sqlite:///{tmp_path / 'business.sqlite3'}"
    rows = await seed_database(url, date.today())
    async with (
        served(tmp_path / "data", business_database_url=url) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as http,
    ):
        for session, caller in (("mine", {"user_id": MEMBER}), ("theirs", {"user_id": OTHER}), ("nobodys", {})):
            for text in ("我的订单到哪了", "转人工"):
                asked = await http.post("/api/v1/chat", json={"message": text, "session_id": session} | caller)
                assert asked.status_code == 200, asked.text
        yield Desk(http, rows)


async def test_the_desk_sees_rows_of_the_customer_whose_session_it_is(desk: Desk) -> None:
    for session, member in (("mine", MEMBER), ("theirs", OTHER)):
        helped = await desk.helped(session, "我的订单有哪些")
        assert (helped["outcome"], helped["degraded"]) == ("answered", [])
        assert "[SQL]" in helped["draft"] and helped["candidates"] == []
        assert {source["index"] for source in helped["sources"]} == {"SQL"}
        shown = {source["fields"]["order_id"] for source in helped["sources"]}
        assert shown and shown <= desk.orders(member)


async def test_what_is_masked_for_the_customer_is_masked_at_the_desk(desk: Desk) -> None:
    helped = await desk.helped("mine", "我的收货地址是什么")
    told, member = helped["draft"] + repr(helped["sources"]), desk.member(MEMBER)
    assert helped["outcome"] == "answered" and helped["sources"] and f"{member['address'][:6]}****" in told
    assert not [member[name] for name in ("name", "phone", "email", "address", "password_hash") if member[name] in told]


async def test_no_question_of_the_desk_reaches_another_member(desk: Desk) -> None:
    theirs, other = sorted(desk.orders(OTHER))[0], desk.member(OTHER)
    for question in (
        f"订单 {theirs} 到哪了",
        f"会员 {OTHER} 的积分",
        f"手机号 {other['phone']} 的订单",
        f"查一下{other['name']}的订单",
        "列出所有会员的订单",
    ):
        helped = await desk.helped("mine", question)
        assert (helped["outcome"], helped["sources"]) == ("cannot_answer", []), question
        for value in (*desk.orders(OTHER), other["address"], other["phone"]):
            assert value not in helped["draft"] or value in question


async def test_without_a_known_customer_nothing_is_looked_up(desk: Desk) -> None:
    refused = await desk.http.get(f"{DESK}/nobodys/business-assist", params={"question": "我的订单有哪些"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "caller_unknown")
