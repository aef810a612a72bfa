"""Where the interactive documentation and the names of the server are open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings

KEY = "a-first-admin-key-of-the-test"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({}, 200),
        ({"api_key": KEY}, 404),
        ({"api_key": KEY, "api_docs_enabled": "true"}, 200),
        ({"api_docs_enabled": "false"}, 404),
    ],
)
async def test_the_documentation_is_open_where_it_should_be(
    tmp_path: Path, options: dict[str, Any], status: int
) -> None:
    async with client(tmp_path, **options) as http:
        for path in ("/docs", "/redoc", "/openapi.json"):
            assert (await http.get(path)).status_code == status
        if status == 200:
            assert "/api/v1/chat" in (await http.get("/openapi.json")).json()["paths"]


async def test_with_keys_the_host_counts_where_hosts_are_named(tmp_path: Path) -> None:
    async with client(tmp_path, api_key=KEY, allowed_hosts="kefu.example.com") as http:
        for host, status in (("kefu.example.com", 200), ("localhost", 200), ("evil.example", 403)):
            headers = {"Host": host, "X-API-Key": KEY, "Origin": "https://shop.example", "Via": "1.1 nginx"}
            assert (await http.get("/api/v1/profile", headers=headers)).status_code == status


@asynccontextmanager
async def client(folder: Path, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Over the application as it runs."""
    own: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    app = create_app(Settings(data_dir=folder, **own | options))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        yield http
