"""Two versions of one manual in a knowledge base."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.serving import Served, served

CHAT = "/api/v1/chat"
EXPORT = "## 导出数据\n\n打开「报表」，点「导出」，一次最多导出 {rows} 条。\n\n"
IMPORT = "## 导入数据\n\n打开「报表」，点「导入」，文件不超过 {size} MB。\n\n"
FAX = "## 传真接口\n\n传真接口在设备背面，接电话线即可使用。\n"
QUESTION = "怎么导出数据，一次最多导出多少条"


def manual(title: str, rows: int, size: int, more: str = "") -> bytes:
    return f"# {title}\n\n{EXPORT.format(rows=rows)}{IMPORT.format(size=size)}{more}".encode()


FILES = {
    "用户手册 V2.2.md": manual("用户手册 V2.2", 200, 20, FAX),
    "用户手册 V2.10.md": manual("用户手册 V2.10", 500, 50),
}


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, chunk_min_tokens=5) as running:
        yield running


@pytest.fixture
async def client(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address) as client:
        yield client


async def add(product: Served, files: dict[str, bytes]) -> None:
    reports = await product.container.ingestion.add("default", files.items())
    assert all(report.ready for report in reports), reports
    await (await product.container.tenants.get_parts("default")).retriever.calibrate()


async def asked(client: httpx.AsyncClient, message: str = QUESTION, **fields: Any) -> dict[str, Any]:
    response = await client.post(CHAT, json={"message": message} | fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def versions(client: httpx.AsyncClient) -> dict[str, str]:
    listed = (await client.get("/api/v1/knowledge/documents")).json()["items"]
    return {item["id"]: item["product_version"] for item in listed}


async def told(client: httpx.AsyncClient, body: dict[str, Any]) -> set[str]:
    known = await versions(client)
    return {known[source["document_id"]] for source in body["data"]["sources"]}


async def test_the_newest_version_answers_unless_another_is_named(client: httpx.AsyncClient, product: Served) -> None:
    await add(product, FILES)
    first = await asked(client)
    assert await told(client, first) == {"2.10"} and "500" in first["reply"] and "200" not in first["reply"]
    older = await asked(client, f"V2.2 {QUESTION}")
    assert await told(client, older) == {"2.2"} and "200" in older["reply"]
    session = {"session_id": older["session_id"]}
    assert await told(client, await asked(client, "导入数据的文件不超过多大", **session)) == {"2.2"}
    assert await told(client, await asked(client, "V2.10 导入数据的文件不超过多大", **session)) == {"2.10"}
    only = await asked(client, filter={"versions": ["V2.2"]})
    assert await told(client, only) == {"2.2"}


async def test_what_the_newest_version_is_silent_about_an_older_one_tells_by_name(
    client: httpx.AsyncClient, product: Served
) -> None:
    await add(product, FILES)
    body = await asked(client, "传真接口在设备背面哪里，怎么使用")
    assert await told(client, body) == {"2.2"}
    assert body["reply"].startswith("新版资料里没有写到，以下来自较早的 V2.2：")


async def test_a_newer_version_takes_over_as_soon_as_it_is_there(client: httpx.AsyncClient, product: Served) -> None:
    await add(product, FILES)
    assert "500" in (await asked(client))["reply"]
    await add(product, {"用户手册 V2.11.md": manual("用户手册 V2.11", 900, 90)})
    assert "900" in (await asked(client))["reply"]
    [newest] = [id for id, version in (await versions(client)).items() if version == "2.11"]
    patched = await client.patch(f"/api/v1/knowledge/documents/{newest}", json={"product_version": "V1.0"})
    assert patched.json()["document"]["product_version"] == "1.0"
    assert "500" in (await asked(client))["reply"]
    taken_back = await client.patch(f"/api/v1/knowledge/documents/{newest}", json={"product_version": None})
    assert taken_back.json()["document"]["product_version"] == "2.11"


async def test_who_can_tell_no_order_asks_which_version_is_meant(client: httpx.AsyncClient, product: Served) -> None:
    await add(
        product,
        {"a.md": manual("用户手册 V2.2", 200, 20), "b.md": manual("用户手册（2023版）", 500, 50)},
    )
    body = await asked(client)
    assert body["outcome"] == "clarify" and not body["data"]["sources"]
    choices = body["data"]["suggestions"]
    assert {choice.rpartition("（")[2] for choice in choices} == {"V2.2）", "2023版）"}
    assert all(name in body["reply"] for name in ("V2.2", "2023版"))
    session = {"session_id": body["session_id"]}
    chosen = await asked(client, next(choice for choice in choices if "2023" in choice), **session)
    assert await told(client, chosen) == {"2023"} and "500" in chosen["reply"]
    assert await told(client, await asked(client, "导入数据的文件不超过多大", **session)) == {"2023"}


async def test_the_hit_test_says_that_another_version_answers(client: httpx.AsyncClient, product: Served) -> None:
    await add(product, FILES)
    old = next(id for id, version in (await versions(client)).items() if version == "2.2")
    body = {"query": QUESTION, "why": {"document_id": old}}
    found = (await client.post("/api/v1/knowledge/search", json=body)).json()
    assert found["why"]["stage"] == "filtered" and "版本" in found["why"]["explanation"]
    assert old not in {candidate["document_id"] for candidate in found["candidates"]}


async def test_a_file_tells_its_product_and_version_and_keeps_them_wherever_it_lies(
    client: httpx.AsyncClient, product: Served
) -> None:
    front = "---\ntitle: 手册\nproduct: 云帆\nversion: 'V3.1'\n---\n\n".encode()
    await add(product, {"v1.0/手册.md": front + manual("手册", 1, 2), "v1.0/安装.md": manual("安装 YS-100", 3, 4)})
    listed = {item["name"]: item for item in (await client.get("/api/v1/knowledge/documents")).json()["items"]}

    def about(item: dict[str, Any]) -> tuple[str, str]:
        return item["product"], item["product_version"]

    assert about(listed["手册.md"]) == ("云帆", "3.1")
    assert about(listed["安装.md"]) == ("YS-100", "1.0")
    moved = {}
    for name in listed:
        place = f"/api/v1/knowledge/documents/{listed[name]['id']}"
        moved[name] = (await client.patch(place, json={"folder": "v2.0"})).json()["document"]
    assert about(moved["手册.md"]) == ("云帆", "3.1")  # the file says so
    assert about(moved["安装.md"]) == ("YS-100", "2.0")  # its folder says so
    found = await client.post("/api/v1/knowledge/search", json={"query": "导出", "filter": {"folders": ["v2.0"]}})
    assert found.status_code == 200 and found.json()["candidates"]
