from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.serving import served

DOCUMENTS = "/api/v1/knowledge/documents"
OLD = "# 门店说明\n\n东湖店的开门时间是早上九点整。\n\n东湖店可以停车。\n"
NEW = "# 门店说明\n\n东湖店的开门时间是上午十点半。\n\n东湖店可以停车。\n\n## 宠物\n\n猫狗可以进入二楼咖啡区。\n"
OTHER = "# 发票\n\n电子发票在订单完成后三天内开具。\n"
OPENING, PETS = "东湖店的开门时间是几点", "猫狗可以进入二楼咖啡区吗"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with served(tmp_path) as product, httpx.AsyncClient(base_url=product.address, timeout=30) as client:
        await upload(client, ("门店.md", OLD), ("发票.md", OTHER))
        await (await product.container.tenants.get_parts("default")).retriever.calibrate()
        yield client


async def upload(client: httpx.AsyncClient, *files: tuple[str, str], **fields: str) -> list[dict[str, Any]]:
    sent = [("files", (name, text.encode())) for name, text in files]
    response = await client.post(f"{DOCUMENTS}?wait=30", files=sent, data=fields)
    assert response.status_code == 201, response.text
    taken: list[dict[str, Any]] = response.json()["files"]
    return taken


async def said(client: httpx.AsyncClient, question: str = OPENING) -> dict[str, Any]:
    answer: dict[str, Any] = (await client.post("/api/v1/chat", json={"message": question})).json()
    return answer


async def test_a_draft_is_tried_reviewed_published_and_rolled_back(http: httpx.AsyncClient) -> None:
    assert "九点" in (await said(http))["reply"]
    async with asyncio.timeout(60):
        while not (await said(http))["data"]["cached"]:  # what is learnt behind the start changes the key of the cache
            pass
    (taken,) = await upload(http, ("门店.md", NEW), draft="true", author="小王", reason="换季时间")
    assert (taken["outcome"], taken["status"]) == ("drafted", "ready")
    document = f"{DOCUMENTS}/{taken['document_id']}"
    second, first = (await http.get(document)).json()["versions"]
    assert (second["state"], second["author"], second["reason"], first["state"]) == (
        "draft", "小王", "换季时间", "published",
    )  # fmt: skip
    (waiting,) = (await http.get("/api/v1/knowledge/drafts")).json()["items"]
    assert (waiting["document_id"], waiting["version"]["version"]) == (taken["document_id"], 2)

    # Nobody but a trial sees it.
    assert (await said(http))["data"]["cached"] and "九点" in (await said(http))["reply"]
    live = (await http.post("/api/v1/knowledge/search", json={"query": PETS})).json()
    assert live["verdict"] != "pass"
    for drafts in (True, [{"document_id": taken["document_id"], "version": 2}]):
        asked = {"query": PETS, "drafts": drafts, "decide": True, "why": {"document_id": taken["document_id"]}}
        tried = (await http.post("/api/v1/knowledge/search", json=asked)).json()
        assert (tried["verdict"], tried["why"]["stage"]) == ("pass", "passed")
        assert "猫狗" in tried["candidates"][0]["text"] and tried["decision"]["intents"] == ["knowledge_qa"]
    for trying, hours in ((None, "九点"), (True, "十点半")):
        found = (await http.post("/api/v1/knowledge/search", json={"query": OPENING, "drafts": trying})).json()
        assert found["verdict"] == "pass" and hours in found["candidates"][0]["text"]
    diff = (await http.get(f"{document}/versions/2/diff")).json()
    assert (diff["against"], diff["added"], diff["removed"], diff["truncated"]) == (1, 3, 1, False)

    # Two people approve it: one of them published it, and what was cached is gone without a word to the cache.
    refused = await http.post(f"{document}/versions/2/approve", json={})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "wrong_version_state")
    assert (await http.post(f"{document}/versions/2/submit", json={})).status_code == 200
    both = await asyncio.gather(*(http.post(f"{document}/versions/2/approve", json={}) for _ in range(2)))
    assert sorted(response.status_code for response in both) == [200, 409]
    answer = await said(http)
    assert "十点半" in answer["reply"] and not answer["data"]["cached"]
    assert (await http.get("/api/v1/knowledge/drafts")).json()["total"] == 0

    # An earlier version may be tried before it answers again.
    back = {"query": PETS, "drafts": [{"document_id": taken["document_id"], "version": 1}]}
    assert (await http.post("/api/v1/knowledge/search", json=back)).json()["verdict"] != "pass"
    rolled = await http.post(f"{document}/rollback", json={"version": 1, "reason": "时间没改"})
    assert rolled.status_code == 201
    assert [version["state"] for version in rolled.json()["versions"]] == ["published", "archived", "archived"]
    assert "九点" in (await said(http))["reply"]


async def test_a_draft_of_a_new_document_is_listed_and_found_by_no_one(http: httpx.AsyncClient) -> None:
    text = "# 停业\n\n西山店从下月起停业装修两个月。\n"
    (taken,) = await upload(http, ("停业.md", text), draft="true")
    document, question = f"{DOCUMENTS}/{taken['document_id']}", "西山店从下月起停业装修几个月"
    row = (await http.get(document)).json()["document"]
    assert (row["published"], row["valid"]) == (False, False)
    assert (await http.post("/api/v1/knowledge/search", json={"query": question})).json()["verdict"] != "pass"
    only = await http.delete(f"{document}/versions/1")
    assert (only.status_code, only.json()["error"]["code"]) == (409, "version_conflict")
    await http.post(f"{document}/versions/1/submit", json={})
    later = {"publish_at": "2999-01-01T00:00:00+08:00", "author": "李"}
    scheduled = (await http.post(f"{document}/versions/1/approve", json=later)).json()["versions"][0]
    assert (scheduled["state"], scheduled["publish_at"][:4], scheduled["decided_by"]) == ("scheduled", "2998", "李")
    past = await http.post(f"{document}/versions/1/approve", json={"publish_at": "2020-01-01T00:00:00+08:00"})
    assert (past.status_code, past.json()["error"]["code"]) == (409, "publish_at_past")
    never = "9999-12-31T23:59:59-10:00"  # a time that has none in UTC
    assert (await http.post(f"{document}/versions/1/approve", json={"publish_at": never})).status_code == 422
    assert (await http.patch(document, json={"valid_until": never})).status_code == 422
    file = ("files", ("停业.md", text.encode()))
    assert (await http.post(DOCUMENTS, files=[file], data={"valid_until": never})).status_code == 400
    assert (await http.post(f"{document}/versions/1/reject", json={})).status_code == 422
    back = (await http.post(f"{document}/versions/1/reject", json={"reason": "再核实"})).json()["versions"][0]
    assert (back["state"], back["note"], back["publish_at"]) == ("draft", "再核实", None)


async def test_trials_name_versions_that_are_there_once_each(
    http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refused(drafts: Any) -> tuple[int, str]:
        response = await http.post("/api/v1/knowledge/search", json={"query": OPENING, "drafts": drafts})
        return response.status_code, response.json()["error"]["code"]

    document = (await http.get(DOCUMENTS)).json()["items"][0]["id"]
    assert await refused(True) == (409, "no_drafts")
    assert await refused([{"document_id": "none", "version": 1}]) == (404, "not_found")
    assert await refused([{"document_id": document, "version": 9}]) == (404, "not_found")
    assert await refused([{"document_id": document, "version": 1}] * 2) == (409, "drafts_contradict")
    monkeypatch.setattr("app.documents.drafts.MAX_DRAFTS", 1)
    await upload(http, *((f"{name}.md", f"# {name}\n\n{name}店周末停业。\n") for name in "东西"), draft="true")
    assert await refused(True) == (409, "too_many_drafts")
    assert (await http.post(DOCUMENTS, files=[("files", ("a.md", b"a"))], data={"draft": "maybe"})).status_code == 400
