"""Customers who come with the token of an identity provider and no key: a real provider, and the whole product."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from app.auth.principal import Role
from app.features import load_routers
from app.http import docs
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from tests.app.auth.provider import ProviderServer, ec_signer, provider_server, rsa_signer
from tests.app.auth.test_auth import EVERYBODY, FIRST, OPEN
from tests.app.desk.client import talking
from tests.app.serving import Served, served

PAGE = "https://shop.example.com"
HELLO = {"message": "你好"}


@pytest.fixture(scope="module")
def provider() -> Iterator[ProviderServer]:
    with provider_server(rsa_signer(), ec_signer()) as running:
        yield running


@pytest.fixture
async def product(provider: ProviderServer, tmp_path: Path) -> AsyncIterator[Served]:
    """The tenants default, by its first key, and acme, by a chat window's."""
    options = {**provider.settings, "user_token_tenant_claim": "org", "api_key": FIRST}
    async with served(tmp_path, _env_file=None, **options) as running:
        yield running


@pytest.fixture
async def http(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address, timeout=60) as client:
        yield client


async def key_of(product: Served, tenant: str, role: Role = Role.CLIENT) -> str:
    key = create_key()
    await KeyRepository(product.container.base.database).create(tenant, role, "k", hash_key(key), (PAGE,))
    product.container.keys.expire_copy()
    return key


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_token_alone_talks_as_its_member_in_its_tenant_and_does_nothing_else(
    product: Served, http: httpx.AsyncClient
) -> None:
    key = await key_of(product, "acme")
    token = rsa_signer().token(org="acme", sub="M0001")
    for headers in (bearer(token), {"X-User-Token": token}, {"X-API-Key": token}):
        assert (await http.post("/api/v1/chat", json=HELLO, headers=headers)).status_code == 200
    said = (await http.post("/api/v1/chat", json=HELLO, headers=bearer(token))).json()
    history = f"/api/v1/conversations/{said['session_id']}/history"
    for headers, status in (
        (bearer(token), 200),
        (bearer(ec_signer().token(org="acme", sub="M0001")), 200),
        ({"X-API-Key": key}, 403),
        (bearer(rsa_signer().token(org="acme", sub="M0002")), 403),
        (bearer(rsa_signer().token(org="default", sub="M0001")), 404),
    ):
        assert (await http.get(history, headers=headers)).status_code == status
    body = {"model": "yingda", "messages": [{"role": "user", "content": "你好"}]}
    assert (await http.post("/v1/chat/completions", json=body, headers=bearer(token))).status_code == 200
    closed = [place for place in places() if place not in EVERYBODY | OPEN]
    assert len(closed) > 100
    for place in closed:
        assert (await http.request(*place, headers=bearer(token))).status_code == 403, place


def places() -> set[tuple[str, str]]:
    """Method and path of all endpoints but those of the documentation, which is hidden here."""
    routers = [router for router in load_routers() if router is not docs.router]
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return {(method, route.path) for route in routes for method in route.methods or ()}


async def test_a_token_has_to_be_of_the_tenant_that_a_key_is_of_and_of_one_that_is_served(
    product: Served, http: httpx.AsyncClient
) -> None:
    theirs, key = rsa_signer().token(org="acme"), {"X-API-Key": FIRST}
    unknown = await http.post("/api/v1/chat", json=HELLO, headers=bearer(theirs))
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (401, "user_token_tenant")
    window = {"X-API-Key": await key_of(product, "default"), "X-User-Token": theirs}
    for headers in (window, key | {"X-User-Token": theirs}):
        refused = await http.post("/api/v1/chat", json=HELLO, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_user_token")
    await key_of(product, "acme")
    assert (await http.post("/api/v1/chat", json=HELLO, headers=bearer(theirs))).status_code == 200
    other = await http.post(
        "/api/v1/chat", json=HELLO | {"user_token": ec_signer().token(org="acme", sub="M2")}, headers=bearer(theirs)
    )
    assert (other.status_code, other.json()["error"]["code"]) == (401, "user_mismatch")


async def test_pages_of_other_sites_may_use_a_token_where_they_may_use_a_key_of_its_tenant(
    product: Served, http: httpx.AsyncClient
) -> None:
    await key_of(product, "acme")
    token = bearer(rsa_signer().token(org="acme"))
    shop = await http.post("/api/v1/chat", json=HELLO, headers={**token, "Origin": PAGE})
    assert shop.headers["access-control-allow-origin"] == PAGE
    elsewhere = await http.post("/api/v1/chat", json=HELLO, headers={**token, "Origin": "https://evil.example.com"})
    assert elsewhere.status_code == 403 and "access-control-allow-origin" not in elsewhere.headers


async def test_a_socket_opens_by_a_token_in_a_header_in_the_subprotocol_or_in_the_first_frame(product: Served) -> None:
    token = rsa_signer().token(org="default")
    line = "/api/v1/conversations/{}/ws"
    ways: list[dict[str, Any]] = [
        {"additional_headers": {"X-User-Token": token}},
        {"subprotocols": ["yingda", f"key.{token}"]},
        {},
    ]
    for number, way in enumerate(ways):
        async with talking(product.address, line.format(f"s{number}"), **way) as talker:
            await talker.send("hello", user_token=token)
            await talker.send("message", content="你好")
            await talker.until(lambda frame: frame["type"] == "done")
    expired = rsa_signer().token(org="default", exp=-3600)
    async with talking(product.address, line.format("s9")) as talker:
        await talker.send("hello", user_token=expired)
        refused = await talker.until(lambda frame: frame["type"] == "error")
    assert refused["error"]["code"] == "user_token_expired"
    async with talking(product.address, "/api/v1/agent/ws?agent_id=a", additional_headers=bearer(token)) as talker:
        refused = await talker.until(lambda frame: frame["type"] == "error")
    assert refused["error"]["code"] == "forbidden"


async def test_without_a_claim_that_chooses_the_tenant_a_token_alone_opens_nothing(
    provider: ProviderServer, tmp_path: Path
) -> None:
    token = rsa_signer().token()
    async with (
        served(tmp_path, _env_file=None, **provider.settings, api_key=FIRST) as product,
        httpx.AsyncClient(base_url=product.address, timeout=60) as http,
    ):
        for headers in (bearer(token), {"X-User-Token": token}):
            refused = await http.post("/api/v1/chat", json=HELLO, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (401, "unauthorized")
        with_key = {"X-API-Key": FIRST, "X-User-Token": token}
        assert (await http.post("/api/v1/chat", json=HELLO, headers=with_key)).status_code == 200


async def test_while_the_provider_is_away_whom_it_vouched_for_talks_on_and_newcomers_are_told_to_wait(
    product: Served, http: httpx.AsyncClient, provider: ProviderServer
) -> None:
    token = rsa_signer().token(org="default")
    provider.kill()
    try:
        cold = await http.post("/api/v1/chat", json=HELLO, headers=bearer(token))
        assert (cold.status_code, cold.json()["error"]["code"]) == (503, "identity_unavailable")
        assert 1 <= int(cold.headers["retry-after"]) <= 10
        line = "/api/v1/conversations/away/ws"
        async with talking(product.address, line, additional_headers=bearer(token)) as talker:
            refused = await talker.until(lambda frame: frame["type"] == "error")
        assert refused["error"]["code"] == "identity_unavailable"
        with_key = await http.post("/api/v1/chat", json=HELLO, headers={"X-API-Key": FIRST})
        assert with_key.status_code == 200
    finally:
        provider.start()
