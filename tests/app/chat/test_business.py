"""Business data over HTTP: who asks is proved, one database belongs to one tenant, an outage is told."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.business.sample.database import seed_database
from app.auth.principal import Role
from app.auth.user_token import sign_token
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from tests.app.serving import Served, served

SECRET = "0123456789abcdef0123456789abcdef"
MEMBER, OTHER = "M0001", "M0003"


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[tuple[Served, str, str]]:
    """A served shop, and an order of MEMBER's and one of OTHER's."""
    url = f"sqlite:///{tmp_path / 'business.sqlite3'}"
    rows = await seed_database(url, date.today())
    mine, theirs = (
        next(row["id"] for row in rows["orders"] if row["member_id"] == member) for member in (MEMBER, OTHER)
    )
    options = {"business_database_url": url, "user_token_secret": SECRET, "api_key": "the-first-admin-key"}
    async with served(tmp_path / "data", **options) as server:
        yield server, mine, theirs


async def key_of(server: Served, role: Role, tenant: str = "default") -> dict[str, str]:
    key = create_key()
    await KeyRepository(server.container.base.database).create(tenant, role, "test", hash_key(key))
    server.container.keys._fresh_until = float("-inf")
    return {"Authorization": f"Bearer {key}"}


async def asked(server: Served, text: str, headers: dict[str, str], **fields: Any) -> tuple[int, dict[str, Any]]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as http:
        answer = await http.post("/api/v1/chat", json={"message": text, **fields}, headers=headers)
        return answer.status_code, answer.json()


def token(caller: str, seconds: float = 60, secret: str = SECRET) -> str:
    return sign_token(secret, caller, seconds, time.time())


def rows_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [source for source in body["data"]["sources"] if source["index"] == "SQL"]


async def test_a_member_is_answered_from_own_rows_by_token_or_trusted_key(shop: tuple[Served, str, str]) -> None:
    server, mine, theirs = shop
    client, trusted = await key_of(server, Role.CLIENT), await key_of(server, Role.SERVER)
    question = f"订单 {mine} 到哪了"
    for headers, fields in (
        (client, {"user_token": token(MEMBER)}),
        (client | {"X-User-Token": token(MEMBER)}, {}),
        (trusted, {"user_id": MEMBER}),
        ({"X-API-Key": "the-first-admin-key"}, {"user_id": MEMBER}),
    ):
        status, body = await asked(server, question, headers, **fields)
        assert (status, body["outcome"]) == (200, "answered"), body
        assert "[SQL]" in body["reply"] and rows_of(body)
        assert not body["data"]["cached"]
    for fields in ({}, {"user_id": MEMBER}):
        status, body = await asked(server, question, client, **fields)
        assert (status, body["outcome"], rows_of(body)) == (200, "clarify", []), body
    status, body = await asked(server, f"订单 {theirs} 到哪了", client, user_token=token(MEMBER))
    assert (status, body["outcome"], rows_of(body)) == (200, "cannot_answer", []), body


async def test_a_token_that_does_not_hold_is_refused(shop: tuple[Served, str, str]) -> None:
    server, mine, _ = shop
    key = await key_of(server, Role.CLIENT)
    for shown in (token(MEMBER, -120), token(MEMBER, secret=SECRET[::-1]), "nonsense"):
        status, body = await asked(server, f"订单 {mine} 到哪了", key, user_token=shown)
        assert status == 401 and "user_token" in body["error"]["message"], shown


async def test_the_members_of_another_tenant_meet_no_rows(shop: tuple[Served, str, str]) -> None:
    server, mine, _ = shop
    headers = await key_of(server, Role.SERVER, "other-shop")
    status, body = await asked(server, f"订单 {mine} 到哪了", headers, user_id=MEMBER)
    assert status == 200 and rows_of(body) == [] and body["data"]["agent"] != "business"


async def test_the_same_member_of_two_tenants_meets_the_rows_of_each_tenants_own_database(tmp_path: Path) -> None:
    """Both companies have a member M0001; what one has bought is nowhere to be seen at the other."""
    orders: dict[str, str] = {}
    sources: dict[str, Any] = {}
    for tenant, today in (("acme", date.today()), ("birch", date.today() - timedelta(days=200))):
        url = f"sqlite:///{tmp_path / tenant}.sqlite3"
        rows = await seed_database(url, today)
        orders[tenant] = next(row["id"] for row in rows["orders"] if row["member_id"] == MEMBER)
        sources[tenant] = {"url": url}
    assert orders["acme"] != orders["birch"]
    async with served(tmp_path / "data", business_databases=sources) as server:
        for tenant, order in orders.items():
            headers = await key_of(server, Role.SERVER, tenant)
            status, body = await asked(server, f"订单 {order} 到哪了", headers, user_id=MEMBER)
            assert (status, body["outcome"]) == (200, "answered") and order in str(rows_of(body)), body
            (other,) = set(orders.values()) - {order}
            status, body = await asked(server, f"订单 {other} 到哪了", headers, user_id=MEMBER)
            assert (status, body["outcome"], rows_of(body)) == (200, "cannot_answer", []), body
        headers = await key_of(server, Role.SERVER, "cedar")
        status, body = await asked(server, f"订单 {orders['acme']} 到哪了", headers, user_id=MEMBER)
        assert status == 200 and rows_of(body) == [] and body["data"]["agent"] != "business"


async def test_a_database_that_is_away_is_told_and_nothing_is_invented(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'away.sqlite3'}"
    async with served(tmp_path / "data", business_database_url=url) as server:
        status, body = await asked(server, "订单 YD2026112200001 到哪了", {}, user_id=MEMBER)
        assert (status, body["error"]["code"]) == (503, "business_unavailable"), body
        status, body = await asked(server, "我的订单能退吗，运费谁出", {}, user_id=MEMBER)
        assert status == 200 and "business" in body["data"]["degraded"], body
        assert rows_of(body) == [] and "暂时" in body["reply"]
