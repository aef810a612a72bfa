from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app
from app.settings import Settings
from tests.app.net.site import Site, site

SOURCES, FROM_URL = "/api/v1/knowledge/sources", "/api/v1/knowledge/documents/from-url"
OPTIONS: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}


@pytest.fixture
async def web() -> AsyncIterator[Site]:
    async with site() as found:
        found.put("/", '<p>欢迎来到帮助中心</p><a href="/returns">退货</a>')
        found.put("/returns", "<h1>退货</h1><p>七天内可以无理由退货。</p>")
        yield found


async def over(http: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        path = f"/api/v1/jobs/runs/{run_id}"
        while (run := (await http.get(path)).json())["state"] in ("queued", "running"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return dict(run)


async def test_a_website_is_added_synced_by_itself_looked_at_and_deleted(tmp_path: Path, web: Site) -> None:
    app = create_app(Settings(data_dir=tmp_path, fetch_allowed_hosts="127.0.0.1", **OPTIONS))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60)
    async with app.router.lifespan_context(app), client as http:
        website = {"url": web.url, "requests_per_minute": 600}
        made = (await http.post(SOURCES, json={"name": "帮助中心", "website": website, "folder": "官网"})).json()
        assert made["running"] and made["next_sync_at"]
        run = await over(http, made["running"])
        assert (run["state"], run["result"]["created"], run["parameters"]) == ("done", 2, {"source_id": made["id"]})
        [listed] = (await http.get(SOURCES)).json()["sources"]
        assert (listed["items"], listed["running"], listed["last"]["error"]) == ({"current": 2}, None, None)
        items = (await http.get(f"{SOURCES}/{made['id']}/items", params={"q": "returns"})).json()
        assert (items["total"], items["items"][0]["state"]) == (1, "current")
        found = await http.get(f"/api/v1/knowledge/documents/{items['items'][0]['document_id']}")
        assert found.json()["document"]["path"] == "官网/127.0.0.1/returns.html"

        del web.pages["/"]
        failed = await over(http, (await http.post(f"{SOURCES}/{made['id']}/sync")).json()["id"])
        assert (failed["state"], failed["error"]["code"]) == ("failed", "fetch_status")
        stopped = (await http.patch(f"{SOURCES}/{made['id']}", json={"enabled": False})).json()
        assert (stopped["next_sync_at"], stopped["last"]["error"]["code"]) == (None, "fetch_status")
        changes = [{"path": "/srv"}, {"website": {"url": "http://10.0.0.1/"}}]
        codes = [(await http.patch(f"{SOURCES}/{made['id']}", json=body)).json()["error"]["code"] for body in changes]
        assert codes == ["source_kind_fixed", "unsafe_target"]
        assert (await http.delete(f"{SOURCES}/{made['id']}", params={"documents": "expire"})).status_code == 204
        assert (await http.get("/api/v1/knowledge/documents", params={"valid": True})).json()["total"] == 0


async def test_one_page_by_its_url_is_an_upload(tmp_path: Path, web: Site) -> None:
    app = create_app(Settings(data_dir=tmp_path, fetch_allowed_hosts="127.0.0.1", **OPTIONS))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60)
    async with app.router.lifespan_context(app), client as http:
        body = {"url": f"{web.url}/returns#top", "category": "退换货", "reason": "官网改版"}

        async def outcome() -> tuple[int, str]:
            answer = await http.post(FROM_URL, json=body, params={"wait": 60})
            return answer.status_code, answer.json()["files"][0]["outcome"]

        assert [await outcome(), await outcome()] == [(201, "created"), (201, "unchanged")]
        web.put("/returns", "<h1>退货</h1><p>十五天内可以无理由退货。</p>")
        assert await outcome() == (201, "updated")
        [row] = (await http.get("/api/v1/knowledge/documents")).json()["items"]
        assert (row["path"], row["url"]) == ("127.0.0.1/returns.html", f"{web.url}/returns")
        web.send("/figures.csv", "问题,答案\n多久发货,一天内\n".encode(), "application/octet-stream")
        sent = {"url": f"{web.url}/figures.csv", "path": "物流/"}
        answer = await http.post(FROM_URL, json=sent, params={"wait": 60})
        assert answer.json()["files"][0]["path"] == "物流/figures.csv"

        web.send("/scan", b"\x89PNG\r\n\x1a\n?", "image/png")
        scan = (await http.post(FROM_URL, json={"url": f"{web.url}/scan"}, params={"wait": 60})).json()
        as_uploaded = ("scanned_document", "reader_missing", "broken_document")  # by what is installed
        assert scan["error"]["code"] in as_uploaded
        web.send("/pic", b"GIF89a", "image/gif")
        web.put("/down", "", status=503)
        web.moved("/away", "http://169.254.169.254/latest/meta-data/")
        errors = []
        for path in ("/none", "/pic", "/down", "/away"):
            refused = await http.post(FROM_URL, json={"url": web.url + path})
            errors.append((refused.status_code, refused.json()["error"]["code"]))
        unavailable, unsafe = (502, "fetch_unavailable"), (403, "unsafe_target")
        assert errors == [(422, "fetch_status"), (422, "fetch_type"), unavailable, unsafe]
        assert (await http.get("/api/v1/knowledge/documents")).json()["total"] == 2


async def test_administrators_manage_staff_look_and_no_tenant_sees_anothers(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    roots = {"default": str(root)}
    app = create_app(Settings(data_dir=tmp_path, api_key="admin-key-of-this-test", source_roots=roots, **OPTIONS))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        keys = KeyRepository(app.state.container.base.database)
        for name, tenant, role in (
            ("staff", "default", Role.AGENT),
            ("other", "other", Role.ADMIN),
            ("customer", "default", Role.CLIENT),
        ):
            await keys.create(tenant, role, name, hash_key(name))

        async def status(key: str, method: str, to: str, /, **body: Any) -> int:
            return (await http.request(method, to, headers={"X-API-Key": key}, json=body or None)).status_code

        admin = {"X-API-Key": "admin-key-of-this-test"}
        folder = {"name": "制度", "path": str(root), "interval_minutes": 0}
        made = (await http.post(SOURCES, json=folder, headers=admin)).json()
        own = f"{SOURCES}/{made['id']}"
        assert [await status("staff", "GET", path) for path in (SOURCES, own, f"{own}/items")] == [200] * 3
        assert await status("staff", "POST", f"{own}/sync") == 403
        assert await status("staff", "POST", FROM_URL, url="http://example.com/") == 403
        assert await status("customer", "GET", SOURCES) == 403
        others = (await http.get(SOURCES, headers={"X-API-Key": "other"})).json()
        assert others == {"sources": [], "roots": []}
        assert [await status("other", method, own) for method in ("GET", "DELETE")] == [404, 404]
        assert await status("other", "POST", SOURCES, **folder) == 403
        assert (made["next_sync_at"], made["running"]) == (None, None)


async def test_a_page_that_is_gone_is_answered_from_no_more_however_it_was_imported(tmp_path: Path, web: Site) -> None:
    app = create_app(Settings(data_dir=tmp_path, fetch_allowed_hosts="127.0.0.1", **OPTIONS))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1", timeout=60)
    async with app.router.lifespan_context(app), client as http:
        page = f"{web.url}returns" if web.url.endswith("/") else f"{web.url}/returns"
        documents = FROM_URL.rpartition("/")[0]

        async def valid() -> dict[str, bool]:
            return {item["path"]: item["valid"] for item in (await http.get(documents)).json()["items"]}

        (taken,) = (await http.post(f"{FROM_URL}?wait=30", json={"url": page})).json()["files"]
        noted = [("files", ("说明.md", "# 说明\n\n另一份说明。".encode()))]
        await http.post(f"{documents}?wait=30", files=noted, data={"urls": page})
        web.put("/returns", "没有了", status=410)
        gone = await http.post(FROM_URL, json={"url": page})
        assert (gone.status_code, gone.json()["error"]["code"]) == (422, "fetch_gone")
        assert gone.json()["error"]["details"]["paths"] == [taken["path"]]
        assert await valid() == {taken["path"]: False, "说明.md": True}, "what only names the page stays"
        again = await http.post(FROM_URL, json={"url": page})
        assert again.json()["error"]["code"] == "fetch_status"

        web.put("/returns", "<h1>退货</h1><p>七天内可以无理由退货。</p>")
        assert (await http.post(f"{FROM_URL}?wait=30", json={"url": page})).status_code == 201
        assert (await valid())[taken["path"]] is True, "and is valid once it is back"

        website = {"url": web.url, "requests_per_minute": 600}
        made = (await http.post(SOURCES, json={"name": "帮助中心", "website": website})).json()
        await over(http, made["running"])
        assert (await valid())[taken["path"]] is True
        web.put("/returns", "没有了", status=404)
        for _ in range(4):  # a page is believed to be gone after some looks
            run = (await http.post(f"{SOURCES}/{made['id']}/sync")).json()
            await over(http, run["id"])
        assert (await valid())[taken["path"]] is False
