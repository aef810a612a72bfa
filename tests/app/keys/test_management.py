from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from tests.app.serving import Served, served

PATH = "/api/v1/keys"


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def client(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address) as client:
        yield client


async def made(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    response = await client.post(PATH, json={"name": "管理员", "role": "admin"} | fields)
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    client.headers.setdefault("X-API-Key", body["key"])
    return body


async def test_the_first_key_is_an_administrators_and_works_at_once(client: httpx.AsyncClient) -> None:
    locked_out = await client.post(PATH, json={"name": "官网", "role": "client"})
    assert (locked_out.status_code, locked_out.json()["error"]["code"]) == (409, "first_key_admin")
    first = await made(client)
    second = await made(client, name="官网", role="client", origins=["https://Shop.example.com/"])
    assert second["origins"] == ["https://shop.example.com"]
    page = (await client.get(PATH)).json()
    assert [(item["id"], item["current"]) for item in page["items"]] == [(second["id"], False), (first["id"], True)]
    assert (page["total"], page["environment_key"]) == (2, False)
    assert first["key"] not in (await client.get(PATH)).text
    found = (await client.get(PATH, params={"q": "官", "role": "client", "state": "valid"})).json()
    assert [item["id"] for item in found["items"]] == [second["id"]]


async def test_a_revoked_key_opens_nothing_and_nobody_revokes_the_key_in_hand(client: httpx.AsyncClient) -> None:
    own = await made(client)
    other = await made(client, name="客服", role="agent")
    in_hand = await client.delete(f"{PATH}/{own['id']}")
    assert (in_hand.status_code, in_hand.json()["error"]["code"]) == (409, "key_in_use")
    assert (await client.delete(f"{PATH}/{other['id']}")).status_code == 204
    refused = await client.get("/api/v1/conversations", headers={"X-API-Key": other["key"]})
    assert refused.status_code == 401
    again = await client.delete(f"{PATH}/{other['id']}")
    assert (again.status_code, again.json()["error"]["code"]) == (404, "key_not_found")


async def test_origins_that_change_count_without_a_new_key(client: httpx.AsyncClient) -> None:
    await made(client)
    web = await made(client, name="官网", role="client", origins=["https://a.example.com"])
    changed = await client.patch(f"{PATH}/{web['id']}", json={"origins": ["https://b.example.com"], "name": "商城"})
    assert (changed.json()["name"], changed.json()["origins"]) == ("商城", ["https://b.example.com"])
    for origin, status in (("https://a.example.com", 403), ("https://b.example.com", 200)):
        headers = {"X-API-Key": web["key"], "Origin": origin}
        assert (await client.get("/api/v1/profile/greeting", headers=headers)).status_code == status
    wrong = await client.post(PATH, json={"name": "客服", "role": "agent", "origins": ["https://a.example.com"]})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (409, "no_origins_for_role")
    typo = await client.patch(f"{PATH}/{web['id']}", json={"origins": ["https://a.example.com/path"]})
    assert typo.status_code == 422


async def test_the_last_use_is_written_by_the_job_to_the_minute(client: httpx.AsyncClient, product: Served) -> None:
    await made(client)
    assert (await client.get(PATH)).json()["items"][0]["last_used_at"] is None
    await product.container.key_management.save_use()
    used = (await client.get(PATH)).json()["items"][0]["last_used_at"]
    assert used.endswith(":00Z")


async def test_keys_are_the_tenants_own_and_for_administrators(client: httpx.AsyncClient, product: Served) -> None:
    own = await made(client)
    keys = KeyRepository(product.container.base.database)
    theirs = await keys.create("other", Role.ADMIN, "别人", hash_key("theirs"))
    await keys.create("default", Role.AGENT, "客服", hash_key("agent"))
    product.container.keys.expire_copy()
    assert theirs not in (await client.get(PATH)).text
    assert (await client.delete(f"{PATH}/{theirs}")).status_code == 404
    assert (await client.patch(f"{PATH}/{theirs}", json={"name": "x"})).status_code == 404
    assert (await client.get(PATH, headers={"X-API-Key": "agent"})).status_code == 403
    assert own["id"] not in (await client.get(PATH, headers={"X-API-Key": "theirs"})).text


async def test_a_rotated_key_is_shown_once_and_the_one_before_ends(client: httpx.AsyncClient) -> None:
    await made(client)
    web = await made(client, name="官网", role="client")
    rotate = f"{PATH}/{web['id']}/rotate"
    both = (await client.post(rotate, json={})).json()
    assert both["key"] not in (web["key"], "") and both["previous_until"] is not None
    for key in (web["key"], both["key"]):
        assert (await client.get("/api/v1/profile/greeting", headers={"X-API-Key": key})).status_code == 200
    last = (await client.post(rotate, json={"grace_hours": 0})).json()
    for key, status in ((web["key"], 401), (both["key"], 401), (last["key"], 200)):
        assert (await client.get("/api/v1/profile/greeting", headers={"X-API-Key": key})).status_code == status
    assert (await client.post(rotate, json={"grace_hours": 721})).status_code == 422
    assert last["key"] not in (await client.get(PATH)).text


async def test_the_end_of_a_key_is_set_moved_and_taken_away(client: httpx.AsyncClient) -> None:
    await made(client)
    later = (datetime.now(UTC) + timedelta(days=30)).isoformat()
    web = await made(client, name="官网", role="client", expires_at=later)
    assert datetime.fromisoformat(web["expires_at"]) == datetime.fromisoformat(later)
    place = f"{PATH}/{web['id']}"
    kept = (await client.patch(place, json={"name": "商城"})).json()
    assert (kept["expires_at"], kept["state"]) == (web["expires_at"], "valid")
    assert (await client.patch(place, json={"expires_at": None})).json()["expires_at"] is None
    for wrong in ("2020-01-01T00:00:00Z", "9999-01-01T00:00:00Z"):
        refused = await client.patch(place, json={"expires_at": wrong})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "expiry_out_of_range")
    assert (await client.get(PATH, params={"state": "expired"})).json()["items"] == []
