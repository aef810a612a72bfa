"""Answers that rest on some of the documents, over every way in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets

from tests.app.serving import Served, served

KEY = "the-first-admin-key"
MANUAL = "# 用户手册\n\n## 导出数据\n\n打开「{menu}」，点「导出」，一次最多导出 {rows} 条。\n"
FILES = {
    "云帆/手册.md": MANUAL.format(menu="报表", rows=500),
    "灵犀/手册.md": MANUAL.format(menu="工作台", rows=200).replace("用户手册", "灵犀 LX-200 用户手册"),
    "门店.md": "# 门店\n\n## 营业时间\n\n门店早上九点开门，节假日照常营业。\n",
}
QUESTION = "怎么导出数据，一次最多多少条"
CHAT = "/api/v1/chat"


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=KEY, chunk_min_tokens=5) as running:
        files = [(path, text.encode()) for path, text in FILES.items()]
        assert all(report.ready for report in await running.container.ingestion.add("default", files))
        await (await running.container.tenants.get_parts("default")).retriever.calibrate()
        yield running


@pytest.fixture
async def client(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": KEY}) as client:
        yield client


async def asked(client: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    response = await client.post(CHAT, json={"message": QUESTION} | fields)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def documents(body: dict[str, Any]) -> set[str]:
    return {source["document_id"] for source in body["data"]["sources"]}


async def ids(client: httpx.AsyncClient) -> dict[str, str]:
    listed = (await client.get("/api/v1/knowledge/documents")).json()["items"]
    return {item["path"]: item["id"] for item in listed}


async def test_a_filter_narrows_the_answer_and_the_cache_keeps_them_apart(client: httpx.AsyncClient) -> None:
    paths = await ids(client)
    for folder, rows in (("云帆", "500"), ("灵犀", "200"), ("云帆", "500"), ("灵犀", "200")):
        body = await asked(client, filter={"folders": [folder]})
        assert rows in body["reply"]
        assert documents(body) == {paths[f"{folder}/手册.md"]}
    assert body["data"]["cached"]
    shops = await asked(client, filter={"document_ids": [paths["门店.md"]]})
    assert shops["outcome"] in {"no_evidence", "clarify"} and not shops["data"]["sources"]


async def test_a_product_is_known_by_its_documents(client: httpx.AsyncClient) -> None:
    body = await asked(client, message="门店几点开门", filter={"products": ["LX-200"]})
    assert "九点" in body["reply"]  # it is of no product, and so of each
    only = {"products": ["LX-200"], "folders": ["灵犀"]}
    assert "200" in (await asked(client, filter=only))["reply"]
    searched = (await client.post("/api/v1/knowledge/search", json={"query": QUESTION, "filter": only})).json()
    assert {candidate["document_id"] for candidate in searched["candidates"]} == {(await ids(client))["灵犀/手册.md"]}


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ({"folders": ["星河"]}, "目录“星河”"),
        ({"categories": ["售后", "售前"]}, "分类“售前”“售后”"),
        ({"document_ids": ["nothing"]}, "文档“nothing”"),
        ({"products": ["LX-999"]}, "产品“LX-999”"),
        ({"versions": ["V9.9"]}, "版本“9.9”"),
        ({"tags": ["vip"]}, "标签“vip”"),
        ({"products": ["LX-200"], "versions": [], "folders": ["灵犀", "星河"]}, "目录“星河”"),
    ],
)
async def test_a_filter_that_names_nothing_is_refused(
    client: httpx.AsyncClient, where: dict[str, list[str]], named: str
) -> None:
    completion = {"model": "yingda", "messages": [{"role": "user", "content": QUESTION}]}
    for path, body in (
        (CHAT, {"message": QUESTION}),
        (f"{CHAT}/stream", {"message": QUESTION}),
        ("/v1/chat/completions", completion),
        ("/v1/chat/completions", completion | {"stream": True}),
        ("/api/v1/knowledge/search", {"query": QUESTION}),
    ):
        response = await client.post(path, json=body | {"filter": where})
        assert response.status_code == 404, (path, response.text)
        error = response.json()["error"]
        assert error["code"] == "filter_matches_nothing" and named in error["message"]


async def test_what_no_document_has_at_once_is_refused_too(client: httpx.AsyncClient) -> None:
    paths = await ids(client)
    where = {"folders": ["云帆"], "document_ids": [paths["门店.md"]]}
    response = await client.post(CHAT, json={"message": QUESTION, "filter": where})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "filter_matches_nothing")
    mistyped = await client.post(CHAT, json={"message": QUESTION, "filter": {"folder": ["云帆"]}})
    assert mistyped.status_code == 422  # and not answered from everything


async def test_streams_completions_and_sockets_take_it(client: httpx.AsyncClient, product: Served) -> None:
    where = {"folders": ["灵犀"]}
    streamed = await client.post(f"{CHAT}/stream", json={"message": QUESTION, "filter": where})
    done = next(line for line in streamed.text.splitlines() if '"type":"done"' in line.replace(" ", ""))
    assert documents(json.loads(done.removeprefix("data: "))) == {(await ids(client))["灵犀/手册.md"]}
    completion = {"model": "yingda", "messages": [{"role": "user", "content": QUESTION}], "filter": where}
    told = (await client.post("/v1/chat/completions", json=completion)).json()
    assert "200" in told["choices"][0]["message"]["content"]
    address = product.address.replace("http", "ws") + "/api/v1/conversations/a-session/ws"
    async with websockets.connect(address, additional_headers={"X-API-Key": KEY}) as socket:
        await socket.send(json.dumps({"type": "message", "content": QUESTION, "filter": where}))
        assert "200" in (await frame(socket, "done"))["reply"]
        for wrong in ({"folders": ["星河"]}, {"folders": "灵犀"}, "灵犀"):
            await socket.send(json.dumps({"type": "message", "content": QUESTION, "filter": wrong}))
            assert (await frame(socket, "error"))["error"]["code"] in {"filter_matches_nothing", "invalid_request"}


async def frame(socket: Any, kind: str) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = json.loads(await socket.recv())
        if found["type"] in (kind, "error"):
            assert found["type"] == kind, found
            return found


async def bound(client: httpx.AsyncClient, where: dict[str, list[str]], role: str = "client") -> dict[str, Any]:
    response = await client.post("/api/v1/keys", json={"name": "官网", "role": role, "filter": where})
    assert response.status_code == 201, response.text
    body: dict[str, Any] = response.json()
    return body


async def test_a_key_never_leaves_the_documents_that_it_is_bound_to(client: httpx.AsyncClient, product: Served) -> None:
    paths, key = await ids(client), await bound(client, {"folders": ["云帆"]})
    assert key["filter"]["folders"] == ["云帆"]
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": key["key"]}) as visitor:
        assert "200" in (await asked(client, filter={"folders": ["灵犀"]}))["reply"]  # kept in the cache, for others
        assert documents(await asked(visitor)) == {paths["云帆/手册.md"]}
        assert documents(await asked(visitor, filter={})) == {paths["云帆/手册.md"]}
        assert documents(await asked(visitor, filter={"document_ids": [paths["云帆/手册.md"]]}))
        hidden = await asked(visitor, message="门店早上几点开门")
        assert hidden["outcome"] not in {"answered", "low_confidence"} and not hidden["data"]["sources"]
        for where in ({"folders": ["灵犀"]}, {"document_ids": [paths["灵犀/手册.md"]]}, {"products": ["LX-200"]}):
            refused = await visitor.post(CHAT, json={"message": QUESTION, "filter": where})
            nothing = await visitor.post(CHAT, json={"message": QUESTION, "filter": {"folders": ["没有"]}})
            assert refused.status_code == nothing.status_code == 404  # as if it were not there
            assert refused.json()["error"]["code"] == nothing.json()["error"]["code"]
        completion = {"model": "yingda", "messages": [{"role": "user", "content": QUESTION}]}
        told = (await visitor.post("/v1/chat/completions", json=completion)).json()
        assert "500" in told["choices"][0]["message"]["content"]
        address = product.address.replace("http", "ws") + "/api/v1/conversations/another/ws"
        async with websockets.connect(address, additional_headers={"X-API-Key": key["key"]}) as socket:
            await socket.send(json.dumps({"type": "message", "content": QUESTION}))
            assert "500" in (await frame(socket, "done"))["reply"]


async def test_a_binding_is_changed_and_taken_away_and_is_for_customers_alone(
    client: httpx.AsyncClient, product: Served
) -> None:
    key, paths = await bound(client, {"folders": ["云帆"]}, "server"), await ids(client)
    place = f"/api/v1/keys/{key['id']}"
    assert (await client.patch(place, json={"name": "小程序"})).json()["filter"]["folders"] == ["云帆"]
    assert (await client.patch(place, json={"filter": {"folders": ["灵犀"]}})).status_code == 200
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": key["key"]}) as visitor:
        assert documents(await asked(visitor)) == {paths["灵犀/手册.md"]}
        assert (await client.patch(place, json={"filter": None})).json()["filter"] is None
        assert "九点" in (await asked(visitor, message="门店早上几点开门"))["reply"]
    for role, where, code in (
        ("agent", {"folders": ["云帆"]}, "no_filter_for_role"),
        ("client", {"folders": ["星河"]}, "filter_matches_nothing"),
    ):
        response = await client.post("/api/v1/keys", json={"name": "x", "role": role, "filter": where})
        assert response.json()["error"]["code"] == code


async def test_curated_answers_are_of_no_folder_and_of_every_product(client: httpx.AsyncClient) -> None:
    faq = {"question": "怎么开发票", "answer": "在订单里点「申请发票」。"}
    made = await client.post("/api/v1/knowledge/faqs", json=faq)
    assert made.status_code == 201
    for where, told in (
        ({}, True),
        ({"products": ["LX-200"]}, True),
        ({"document_ids": [made.json()["id"]]}, True),
        ({"folders": ["云帆"]}, False),
    ):
        body = await asked(client, message="怎么开发票", filter=where)
        assert (faq["answer"] in body["reply"]) is told, where


async def test_the_page_in_view_answers_beside_the_documents_of_a_filter(client: httpx.AsyncClient) -> None:
    page = {"url": "https://shop.example/x", "title": "灵犀 LX-200", "text": "灵犀 LX-200 保修两年。"}
    body = await asked(client, message="LX-200 保修几年", page=page, filter={"folders": ["云帆"]})
    assert "两年" in body["reply"]
