"""Routes that are imported when they are asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import httpx
import pytest
from fastapi import APIRouter
from starlette.routing import Route

from app import features
from app.features import AT_ONCE, FEATURES, get_beginning, import_router, load_routers
from app.main import Application, create_app
from app.settings import Settings

OWN_PAGES = {"/", "/desk", "/admin", "/widget.js", "/web/config.json"}


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    made = create_app(Settings(_env_file=None, data_dir=tmp_path, embedder="hash", samples_enabled=False))
    async with made.router.lifespan_context(made):
        yield cast(Application, made)


@pytest.fixture
async def http(app: Application) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        yield client


def paths_of(router: APIRouter) -> set[str]:
    return {route.path for route in router.routes if isinstance(route, Route)} | {
        route.path for route in router.routes if hasattr(route, "path")
    }


def test_every_module_is_listed_under_all_beginnings_of_its_addresses() -> None:
    for _, name in FEATURES:
        listed = {prefix for prefix, other in FEATURES if other == name}
        assert {get_beginning(path) for path in paths_of(import_router(name))} == listed, name


def test_every_router_of_the_product_is_listed() -> None:
    root = Path(features.__file__).parent
    defining = {
        "app." + ".".join(path.relative_to(root).with_suffix("").parts)
        for path in root.rglob("*.py")
        if "\nrouter = APIRouter(" in path.read_text("utf-8")
    }
    assert defining == {name for _, name in FEATURES} | {"app.web.api"}


def test_an_application_begins_with_what_customers_ask(app: Application) -> None:
    served = {get_beginning(path) for path in paths_of(app.router) - OWN_PAGES if not path.startswith("/web/")}
    assert served == set(AT_ONCE)


async def test_the_first_request_for_an_address_brings_all_that_begin_so_and_nothing_else(
    app: Application, http: httpx.AsyncClient
) -> None:
    assert (await http.get("/api/v1/tuner/parameters/none")).status_code == 404
    expected = {
        path for prefix, name in FEATURES if prefix == "/api/v1/tuner" for path in paths_of(import_router(name))
    }
    loaded = {path for path in paths_of(app.router) if path.startswith("/api/v1/tuner")}
    assert loaded == expected
    assert "/api/v1/tuner" not in app.features.missing
    assert "/api/v1/knowledge" in app.features.missing


async def test_requests_that_come_together_are_all_answered_and_routes_are_there_once(
    app: Application, http: httpx.AsyncClient
) -> None:
    answers = await asyncio.gather(*(http.get("/api/v1/tickets") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    routes = app.router.routes
    assert len(set(map(id, routes))) == len(routes)
    assert "/api/v1/tickets" not in app.features.missing


async def test_an_address_that_nobody_serves_is_not_found_and_a_method_not_allowed(http: httpx.AsyncClient) -> None:
    for path in ("/api/v1/none", "/none", "/api/v1/webhooks/a/b/c", "/api/v1"):
        assert (await http.get(path)).status_code == 404, path
    refused = await http.put("/api/v1/tickets", json={})
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")


async def test_all_routes_are_there_for_whoever_looks_through_them(app: Application) -> None:
    everything = {path for router in load_routers() for path in paths_of(router)}
    assert everything <= {route.path for route in app.routes if hasattr(route, "path")}
