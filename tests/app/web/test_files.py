"""What is served of the pages, and how."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import Settings
from app.web.api import PAGES
from app.web.files import FOLDERS, HERE, POLICY
from scripts.widget_bundle import build_banner, list_modules

FILES = [
    path.relative_to(HERE).as_posix()
    for folder in FOLDERS
    for path in sorted((HERE / folder).rglob("*"))
    if path.is_file()
]
# Bytes, compressed, of all that another site loads.
MOST_OF_THE_WIDGET = 48_000
CODE_IN_TEXT = "innerHTML", "dangerouslySetInnerHTML", "eval(", "new Function", "document.write"
ELSEWHERE = 'src="http', 'href="http', "url(http", 'from "http'


def own(name: str) -> bool:
    """Not a library, nor a file with one in it."""
    return not name.startswith("vendor/") and name != "widget/bundle.js"


@asynccontextmanager
async def client(tmp_path: Path, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    own = Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False, **settings)
    app = create_app(own)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        yield http


async def test_pages_and_files_are_served_under_a_strict_policy(tmp_path: Path) -> None:
    async with client(tmp_path) as http:
        for address in [*PAGES, "/widget.js", *(f"/web/{name}" for name in FILES)]:
            response = await http.get(address)
            assert response.status_code == 200, address
            assert response.headers["content-security-policy"] == POLICY
            assert response.headers["x-content-type-options"] == "nosniff"
            etag = response.headers["etag"]
            assert (await http.get(address, headers={"If-None-Match": etag})).status_code in (200, 304)
        assert (await http.get("/web/vendor/marked.js")).headers["content-encoding"] == "gzip"
        for hidden in ("/web/api.py", "/web/shared/../files.py", "/web/shared/..%2Ffiles.py", "/web/"):
            assert (await http.get(hidden)).status_code == 404


async def test_without_pages_nothing_is_there(tmp_path: Path) -> None:
    async with client(tmp_path, web_enabled=False) as http:
        for address in [*PAGES, "/widget.js", "/web/config.json", "/web/shared/ui.js"]:
            assert (await http.get(address)).status_code == 404


def test_kept_libraries_are_the_ones_of_the_manifest() -> None:
    vendor = HERE / "vendor"
    there = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in vendor.iterdir()}
    del there["manifest.json"]
    manifest = json.loads((vendor / "manifest.json").read_text("utf-8"))
    assert there == manifest["sha256"]
    assert {package["as"] for package in manifest["packages"]} == {
        name for name in there if not name.endswith("LICENSE")
    }


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith((".html", ".js", ".css")) and own(name)])
def test_pages_hold_no_inline_code_and_fetch_nothing_from_elsewhere(name: str) -> None:
    text = (HERE / name).read_text("utf-8")
    assert [word for word in CODE_IN_TEXT + ELSEWHERE if word in text] == []
    if name.endswith(".html"):
        assert "<style" not in text and " style=" not in text and "<script>" not in text


def test_the_bundle_of_the_widget_is_made_of_its_sources() -> None:
    for name in ("bundle.js", "bundle.css"):
        first = (HERE / "widget" / name).read_text("utf-8").partition("\n")[0]
        assert first == build_banner(), "run: make widget"


def test_the_chat_page_asks_for_all_of_its_modules_at_once() -> None:
    page = (HERE / "chat" / "index.html").read_text("utf-8")
    preloaded = re.findall(r'<link rel="modulepreload" href="/web/([^"]+)">', page)
    assert preloaded == [path.relative_to(HERE).as_posix() for path in list_modules(HERE / "chat" / "main.js")]


def test_the_widget_is_small() -> None:
    loaded = [HERE / "widget" / name for name in ("widget.js", "bundle.js", "bundle.css")]
    assert sum(len(gzip.compress(path.read_bytes())) for path in loaded) < MOST_OF_THE_WIDGET
