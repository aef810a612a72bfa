"""Who may call what, over the whole application."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, APIWebSocketRoute

import app
from app.auth.principal import Role
from app.http.deps import Allow, allow_anyone
from app.http.routes import GuardedRoute
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.main import create_app
from app.settings import Settings
from app.wiring.container import Container
from tests.logs import product_log

FIRST = "the-first-admin-key"
CHAT = {"message": "退货运费谁出"}
PAGES = {("GET", path) for path in ("/", "/desk", "/admin", "/widget.js", "/web/config.json")}
# For pages of this server alone, by the sign-in that they show, by a secret or by a link: see `tests/app/people`.
SIGNING_IN = {(method, "/api/v1/signin") for method in ("GET", "POST", "DELETE")} | {
    ("POST", "/api/v1/signin/invitation"),
    ("PUT", "/api/v1/signin/password"),
    ("DELETE", "/api/v1/signin/everywhere"),
}
# A platform's signature is its key: see `tests/app/channels`.
SIGNED = {(method, "/api/v1/channels/{name}/callback") for method in ("GET", "POST")}
OPEN = PAGES | SIGNING_IN | SIGNED | {("GET", "/api/v1/health"), ("GET", "/api/v1/health/ready")}
# What a key may do that sits in a chat window.
EVERYBODY = {
    ("POST", "/api/v1/chat"),
    ("POST", "/api/v1/chat/stream"),
    ("POST", "/api/v1/chat/{session_id}/stop"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/api/v1/sessions"),
    ("GET", "/api/v1/sessions"),
    ("GET", "/api/v1/conversations/{session_id}/history"),
    ("GET", "/api/v1/conversations/{session_id}/messages/{message_id}/sources/{index}"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{model}"),
    ("GET", "/api/v1/profile/greeting"),
    ("PUT", "/api/v1/conversations/{session_id}/messages/{message_id}/feedback"),
    ("GET", "/api/v1/conversations/{session_id}/messages"),
    ("GET", "/api/v1/conversations/{session_id}/handoff"),
    ("POST", "/api/v1/conversations/{session_id}/handoff"),
    ("DELETE", "/api/v1/conversations/{session_id}/handoff"),
    ("POST", "/api/v1/conversations/{session_id}/close"),
    ("GET", "/api/v1/conversations/{session_id}/rating"),
    ("POST", "/api/v1/conversations/{session_id}/rating"),
    ("POST", "/api/v1/conversations/{session_id}/visits"),
    ("POST", "/api/v1/conversations/{session_id}/attachments"),
    ("GET", "/api/v1/conversations/{session_id}/attachments/{attachment_id}"),
    ("GET", "/api/v1/widget"),
    ("POST", "/mcp"),
}


def settings(folder: Path, **values: Any) -> Settings:
    return Settings(data_dir=folder, embedder="hash", vector_store="memory", samples_enabled=False, **values)


@pytest.fixture
async def application(tmp_path: Path) -> AsyncIterator[FastAPI]:
    application = create_app(settings(tmp_path, api_key=FIRST))
    async with application.router.lifespan_context(application):
        yield application


@pytest.fixture
def container(application: FastAPI) -> Container:
    container: Container = application.state.container
    return container


@pytest.fixture
async def http(application: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(application), base_url="http://127.0.0.1") as client:
        yield client


def shown(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def key_of(container: Container, tenant: str, role: Role) -> dict[str, str]:
    """Headers with a new key."""
    key = create_key()
    await KeyRepository(container.base.database).create(tenant, role, "test", hash_key(key))
    return shown(key)


# Open to whoever may read the documentation; and a program.
OWN_PAGES = re.compile(r"app\.(http\.docs|__main__)$")


def routes() -> list[tuple[str, APIRoute]]:
    """Method and route of all endpoints, those that the documentation hides included."""
    names = [module.name for module in pkgutil.walk_packages(app.__path__, "app.") if not OWN_PAGES.match(module.name)]
    modules = [importlib.import_module(name) for name in names]
    routers = [value for module in modules for value in vars(module).values() if isinstance(value, APIRouter)]
    found = [route for router in routers for route in router.routes]
    sockets = [route for route in found if isinstance(route, APIWebSocketRoute)]
    asking = "async with open_line("  # for a key
    assert all(asking in inspect.getsource(socket.endpoint) for socket in sockets)
    assert all(isinstance(route, APIRoute | APIWebSocketRoute) for route in found)
    return [(method, route) for route in found if isinstance(route, APIRoute) for method in route.methods or ()]


def guards(dependant: Dependant) -> Iterator[Any]:
    """What decides on the caller, of all that a route depends on."""
    if isinstance(dependant.call, Allow) or dependant.call is allow_anyone:
        yield dependant.call
    for part in dependant.dependencies:
        yield from guards(part)


def test_every_route_says_who_may_call_it() -> None:
    assert len(routes()) > 10
    assert {(method, route.path) for method, route in routes() if len(list(guards(route.dependant))) != 1} == set()
    assert all(isinstance(route, GuardedRoute) for _, route in routes())  # which asks before it reads the body
    served = set(create_app(Settings(embedder="hash")).openapi()["paths"])
    assert served <= {route.path for _, route in routes()}


def test_only_health_is_open_and_a_chat_window_gets_no_further_than_it_has_to() -> None:
    allowed = {(method, route.path): next(guards(route.dependant)) for method, route in routes()}
    assert {place for place, guard in allowed.items() if guard is allow_anyone} == OPEN
    closed = {place: guard.roles for place, guard in allowed.items() if guard is not allow_anyone}
    assert {place for place, roles in closed.items() if Role.CLIENT in roles} == EVERYBODY
    assert all(Role.ADMIN in roles for roles in closed.values())
    assert {place for place, roles in closed.items() if Role.METRICS in roles} == {("GET", "/metrics")}
    changing = {place for place, roles in closed.items() if place[0] != "GET" and Role.AGENT in roles} - EVERYBODY
    own = {place for place in changing if place[1].startswith(("/api/v1/agent/", "/api/v1/tickets"))}
    assert changing - own == {
        ("POST", "/api/v1/knowledge/search"),
        ("POST", "/api/v1/knowledge/search/batch"),
        ("POST", "/api/v1/knowledge/search/file"),
        ("DELETE", "/api/v1/conversations/{session_id}"),
        ("DELETE", "/api/v1/conversations/{session_id}/attachments/{attachment_id}"),
    }


async def test_a_route_refuses_who_has_no_key_or_not_the_role(http: httpx.AsyncClient, container: Container) -> None:
    keys = {role: await key_of(container, "default", role) for role in Role}
    for method, route in routes():
        guard = next(guards(route.dependant))
        if guard is allow_anyone:
            continue
        path = re.sub(r"\{[^}]*\}", "x", route.path)
        without = await http.request(method, path)
        assert (without.status_code, without.headers["www-authenticate"]) == (401, "Bearer"), route.path
        for role, headers in keys.items():
            status = (await http.request(method, path, headers=headers)).status_code
            assert status != 401 and (status == 403) == (role not in guard.roles), (route.path, role)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {FIRST}"},
        {"Authorization": f"bearer  {FIRST}"},
        {"X-API-Key": FIRST},
        {"Authorization": "Basic dXNlcjpwYXNz", "X-API-Key": FIRST},
    ],
)
async def test_a_key_is_taken_from_either_header(http: httpx.AsyncClient, headers: dict[str, str]) -> None:
    assert (await http.get("/api/v1/profile", headers=headers)).status_code == 200


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer "}, {"X-API-Key": "wrong"}, shown(FIRST + "x")])
async def test_without_a_valid_key_there_is_nothing_but_the_error_body(
    http: httpx.AsyncClient, headers: dict[str, str]
) -> None:
    response = await http.post("/api/v1/chat", json=CHAT, headers=headers)
    assert response.status_code == 401
    error = response.json()["error"]
    assert error["code"] == "unauthorized" and error["request_id"] == response.headers["x-request-id"]


async def test_a_role_that_is_missing_is_named(http: httpx.AsyncClient, container: Container) -> None:
    response = await http.get("/api/v1/profile", headers=await key_of(container, "default", Role.CLIENT))
    assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")
    assert response.json()["error"]["details"] == {"required": ["admin", "agent", "lead"]}


async def test_without_any_key_this_machine_is_admin_of_the_default_tenant(tmp_path: Path) -> None:
    application = create_app(settings(tmp_path))
    async with application.router.lifespan_context(application):
        for address, status in (("127.0.0.1", 200), ("10.0.0.7", 401)):
            transport = httpx.ASGITransport(application, client=(address, 1234))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                assert (await client.get("/api/v1/profile")).status_code == status


async def test_what_one_tenant_stored_never_answers_another(http: httpx.AsyncClient, container: Container) -> None:
    """Ids that differ only in case or punctuation are different tenants."""
    secrets = {"acme": "甲方机密价格是一千元", "Acme": "乙方机密价格是两千元", "ac.me": "丙方机密价格是三千元"}
    keys = {tenant: await key_of(container, tenant, Role.ADMIN) for tenant in secrets}
    ids = {}
    for tenant, secret in secrets.items():
        files = {"files": ("价格.md", f"# 价格\n\n{secret}。\n".encode())}
        response = await http.post("/api/v1/knowledge/documents?wait=60", files=files, headers=keys[tenant])
        ids[tenant] = response.json()["files"][0]["document_id"]
    for tenant, secret in secrets.items():
        others = [other for other in secrets.values() if other != secret]
        for path, body in (
            ("/api/v1/chat", {"message": "机密价格是多少", "session_id": "s"}),
            ("/api/v1/chat/stream", {"message": "机密价格是多少", "session_id": "s"}),
            ("/v1/chat/completions", {"model": "yingda", "messages": [{"role": "user", "content": "机密价格是多少"}]}),
            ("/api/v1/knowledge/search", {"query": "机密价格是多少", "explain": True}),
        ):
            text = (await http.post(path, json=body, headers=keys[tenant])).text
            assert secret in text and not any(other in text for other in others), path
        listed = (await http.get("/api/v1/knowledge/documents", headers=keys[tenant])).json()
        assert [item["id"] for item in listed["items"]] == [ids[tenant]]
        read = (await http.get("/api/v1/conversations/s", headers=keys[tenant])).text
        assert secret in read and not any(other in read for other in others)
        for other in ids.keys() - {tenant}:
            place = f"/api/v1/knowledge/documents/{ids[other]}"
            assert (await http.get(place, headers=keys[tenant])).status_code == 404
            assert (await http.delete(place, headers=keys[tenant])).status_code == 404


async def test_the_log_names_the_tenant_and_no_key(http: httpx.AsyncClient, container: Container) -> None:
    headers = await key_of(container, "acme", Role.CLIENT)
    with product_log("DEBUG") as stream:
        await http.post("/api/v1/chat", json={"message": "你好"}, headers=headers)
        await http.post("/api/v1/chat", json={"message": "你好"}, headers=shown("stolen-key-1234"))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    tenants = [line.get("tenant") for line in lines if line["event"] == "request"]
    assert tenants == ["acme", None]
    for secret in (headers["Authorization"].split()[1], FIRST, "stolen-key"):
        assert secret not in stream.getvalue()
