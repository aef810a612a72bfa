"""Where the interactive documentation and the names of the server are open."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.http import docs
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
        for path in ("/docs", "/docs/swagger-ui.css", "/openapi.json"):
            assert (await http.get(path)).status_code == status
        if status == 200:
            assert "/api/v1/chat" in (await http.get("/openapi.json")).json()["paths"]


async def test_the_page_fetches_nothing_from_elsewhere(tmp_path: Path) -> None:
    async with client(tmp_path) as http:
        page = (await http.get("/docs")).text
        fetched = re.findall(r"""(?:src|href)=["']([^"']+)""", page)
        assert {f"/docs/{name}" for name in docs.FILES} == set(fetched)
        for path in fetched:
            response = await http.get(path)
            assert response.status_code == 200
            assert response.content == docs.FOLDER.joinpath(path.rsplit("/", 1)[1]).read_bytes()
        for elsewhere in ("manifest.json", "LICENSE", "..%2Fdocs.py"):
            assert (await http.get(f"/docs/{elsewhere}")).status_code == 404
    assert "//" not in page.replace("<!DOCTYPE", "").replace(" // ", "")
    assert '"validatorUrl": null' in page


def test_the_scripts_are_those_of_the_package() -> None:
    manifest = json.loads(docs.FOLDER.joinpath("manifest.json").read_text("utf-8"))
    there = {path.name: path.read_bytes() for path in docs.FOLDER.iterdir() if path.name != "manifest.json"}
    assert manifest["sha256"] == {name: hashlib.sha256(data).hexdigest() for name, data in there.items()}
    assert (manifest["package"], manifest["license"]) == ("swagger-ui-dist", "Apache-2.0")
    assert b"Apache License" in there["LICENSE"]
    assert re.fullmatch(r"[0-9]+[.][0-9]+[.][0-9]+", manifest["version"])


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
