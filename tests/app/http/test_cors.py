"""Pages of other sites: which keys they may use, and sessions that they open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.auth.origins import normalize_origin
from app.auth.principal import Role
from app.http.cors import ACCEPTED
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.wiring.container import Container
from tests.app.serving import Served, served

SHOP, OTHER = "https://shop.example.com", "https://other.example.com"
CHAT = "/api/v1/chat"


async def key_of(container: Container, role: Role, *origins: str) -> dict[str, str]:
    key = create_key()
    await KeyRepository(container.base.database).create("default", role, "test", hash_key(key), origins)
    container.keys._fresh_until = float("-inf")
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Served]]:
    async with (
        served(folder, api_key="the-first-admin-key") as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as http,
    ):
        yield http, server


async def preflight(http: httpx.AsyncClient, page: str) -> httpx.Response:
    asked = {"Origin": page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": ACCEPTED}
    return await http.options(CHAT, headers=asked)


async def test_a_page_may_call_with_the_key_that_is_for_it(tmp_path: Path) -> None:
    async with running(tmp_path) as (http, server):
        assert (await preflight(http, SHOP)).status_code == 405  # off by default
        shop, other = [await key_of(server.container, Role.CLIENT, page) for page in (SHOP, OTHER)]
        allowed = await preflight(http, SHOP)
        assert allowed.status_code == 204
        assert allowed.headers["access-control-allow-origin"] == SHOP
        assert allowed.headers["x-request-id"]
        for header in ("authorization", "x-session-token", "idempotency-key", "content-type", "x-api-key"):
            assert header in allowed.headers["access-control-allow-headers"].lower()
        assert "access-control-allow-origin" not in (await preflight(http, "https://evil.example")).headers

        body = {"message": "退货运费谁出"}
        told = await http.post(CHAT, json=body, headers=shop | {"Origin": SHOP})
        assert told.status_code == 200
        assert told.headers["access-control-allow-origin"] == SHOP
        assert {"X-Request-ID", "Retry-After"} <= set(told.headers["access-control-expose-headers"].split(", "))
        assert "Origin" in told.headers["vary"]

        refused = await http.post(CHAT, json=body, headers=other | {"Origin": SHOP})
        assert refused.status_code == 403
        unknown = await http.post(CHAT, json=body, headers={"Origin": SHOP, "X-API-Key": "wrong"})
        assert (unknown.status_code, unknown.headers["access-control-allow-origin"]) == (401, SHOP)
        wrong = await http.post(CHAT, json={}, headers=shop | {"Origin": SHOP})
        assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (422, SHOP)
        null = await http.get(f"{CHAT}%00", headers=shop | {"Origin": SHOP})
        assert (null.status_code, null.headers["access-control-allow-origin"]) == (404, SHOP)


async def test_a_key_without_origins_is_as_before_and_one_with_them_also_serves_apps_and_own_pages(
    tmp_path: Path,
) -> None:
    async with running(tmp_path) as (http, server):
        free, bound = await key_of(server.container, Role.CLIENT), await key_of(server.container, Role.CLIENT, SHOP)
        for headers, status in (
            (free | {"Origin": OTHER}, 200),
            (bound, 200),
            (bound | {"Origin": server.address}, 200),
            (bound | {"Origin": OTHER}, 403),
            (bound | {"Origin": "null"}, 403),
        ):
            response = await http.get("/api/v1/profile/greeting", headers=headers)
            assert response.status_code == status
            assert "access-control-allow-origin" not in response.headers


async def test_a_page_of_another_site_can_read_when_to_try_again(tmp_path: Path) -> None:
    async with (
        served(tmp_path, api_key="the-first-admin-key", rate_per_key=1) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as http,
    ):
        headers = await key_of(server.container, Role.CLIENT, SHOP) | {"Origin": SHOP}
        body = {"message": "退货运费谁出"}
        _, limited = [await http.post(f"{CHAT}/stream", json=body, headers=headers) for _ in range(2)]
        assert (limited.status_code, limited.headers["access-control-allow-origin"]) == (429, SHOP)
        assert int(limited.headers["retry-after"]) > 0
        assert "Retry-After" in limited.headers["access-control-expose-headers"].split(", ")


async def test_a_socket_from_another_page_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, server):
        key = await key_of(server.container, Role.CLIENT, SHOP)
        address = server.address.replace("http", "ws", 1) + "/api/v1/conversations/s-1/ws"
        async with connect(address, additional_headers=key, origin=OTHER) as socket:  # type: ignore[arg-type]
            assert "origin_not_allowed" in str(await socket.recv())
            with pytest.raises(ConnectionClosed):
                await socket.recv()


async def test_a_session_is_opened_ahead_of_its_first_turn(tmp_path: Path) -> None:
    async with running(tmp_path) as (http, server):
        page, plain = await key_of(server.container, Role.CLIENT, SHOP), await key_of(server.container, Role.CLIENT)
        company = await key_of(server.container, Role.SERVER)
        agent = await key_of(server.container, Role.AGENT)
        for headers, status in (
            (page | {"Origin": SHOP}, 201),
            (page, 403),
            (plain | {"Origin": SHOP}, 403),
            (company, 201),
            (agent, 403),
        ):
            assert (await http.post("/api/v1/sessions", json={}, headers=headers)).status_code == status

        opened = (await http.post("/api/v1/sessions", json={"user_id": "M1"}, headers=company)).json()
        asked = {"message": "退货运费谁出", "session_id": opened["session_id"]}
        assert (await http.post(CHAT, json=asked, headers=page)).status_code == 403
        shown = page | {"Origin": SHOP, "X-Session-Token": opened["session_token"]}
        answered = await http.post(CHAT, json=asked, headers=shown)
        assert answered.status_code == 200
        assert "session_token" not in answered.json()  # the one that was given goes on
        listed: Any = (await http.get("/api/v1/conversations", headers=agent, params={"user_id": "M1"})).json()
        found = listed["conversations"][0]
        assert (found["session_id"], found["verified"], found["turns"]) == (opened["session_id"], True, 1)


@pytest.mark.parametrize("text", ["https://shop.example.com", "http://localhost:3000", " HTTPS://Shop.example.com/ "])
def test_an_origin_is_scheme_host_and_port(text: str) -> None:
    assert normalize_origin(text) == text.strip().lower().rstrip("/")


@pytest.mark.parametrize(
    "text", ["", "*", "null", "shop.example.com", "https://*.example.com", "https://a.example/b", "ftp://a.example"]
)
def test_anything_else_is_no_origin(text: str) -> None:
    with pytest.raises(ValueError, match="来源"):
        normalize_origin(text)
