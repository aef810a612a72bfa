from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.serving import served

KNOWLEDGE = "/api/v1/knowledge"
FIRST = "# X10 说明书\n\nX10 的整机保修期为 1 年。\n"
SECOND = "# 售后政策\n\n购买 X10 的顾客，整机保修 2 年。\n"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with served(tmp_path) as product, httpx.AsyncClient(base_url=product.address, timeout=30) as client:
        yield client


async def upload(client: httpx.AsyncClient, name: str, text: str) -> str:
    response = await client.post(f"{KNOWLEDGE}/documents?wait=30", files=[("files", (name, text.encode()))])
    assert response.status_code == 201, response.text
    document: str = response.json()["files"][0]["document_id"]
    return document


async def check(client: httpx.AsyncClient, **parameters: str) -> dict[str, Any]:
    run = (await client.post("/api/v1/jobs/quality_check/runs", json={"parameters": parameters})).json()
    async with asyncio.timeout(60):
        while run["state"] not in ("done", "failed"):
            await asyncio.sleep(0.05)
            run = (await client.get(f"/api/v1/jobs/runs/{run['id']}")).json()
    assert run["state"] == "done", run
    result: dict[str, Any] = run["result"]
    return result


async def issues(client: httpx.AsyncClient, **query: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = (await client.get(f"{KNOWLEDGE}/quality/issues", params=query)).json()["items"]
    return items


async def test_what_was_ignored_stays_so_until_the_texts_change(http: httpx.AsyncClient) -> None:
    await upload(http, "说明书.md", FIRST)
    policy = await upload(http, "政策.md", SECOND)
    assert (await check(http))["found"] == {"contradiction": 1}
    (issue,) = await issues(http)
    assert {issue["title"], issue["other_title"]} == {"X10 说明书", "售后政策"}
    assert (issue["severity"], sorted(issue["values"]), len(issue["excerpts"])) == ("high", ["12个月", "24个月"], 2)
    place = f"{KNOWLEDGE}/quality/issues/{issue['id']}"
    assert (await http.patch(place, json={"state": "ignored"})).status_code == 400
    ignored = await http.patch(place, json={"state": "ignored", "reason": "赠送一年", "author": "小王"})
    assert (ignored.json()["state"], ignored.json()["decided_by"]) == ("ignored", "小王")

    # Once more, of one document alone, and under other ids of its chunks.
    await http.patch(f"{KNOWLEDGE}/documents/{policy}", json={"category": "售后"})
    assert (await check(http, document_id=policy))["stayed"] == 1
    assert [one["state"] for one in await issues(http, document_id=policy)] == ["ignored"]
    assert await issues(http, state="open") == []

    # Other texts: what was ignored is gone, and what is wrong now is open.
    await upload(http, "政策.md", SECOND.replace("2 年", "3 年"))
    assert (await check(http))["gone"] == 1
    (now,) = await issues(http)
    assert (now["state"], sorted(now["values"])) == ("open", ["12个月", "36个月"])
    await upload(http, "政策.md", SECOND.replace("2 年", "1 年"))
    await check(http)
    assert await issues(http) == []
    assert (await http.patch(place, json={"state": "open"})).status_code == 404


async def test_a_corrected_passage_and_a_deleted_document_have_no_fault_any_more(
    http: httpx.AsyncClient,
) -> None:
    first = await upload(http, "说明书.md", FIRST)
    second = await upload(http, "政策.md", SECOND + "\n## 其他\n\n本表仅供内部使用。\n")
    await check(http)
    assert {one["kind"] for one in await issues(http)} == {"contradiction", "sensitive"}
    (chunk,) = (await http.get(f"{KNOWLEDGE}/documents/{first}/chunks")).json()["items"]
    place = f"{KNOWLEDGE}/documents/{first}/chunks/{chunk['id']}/correction"
    assert (await http.put(place, json={"text": "X10 的整机保修期为 2 年。"})).status_code == 200
    await check(http)
    assert {one["kind"] for one in await issues(http)} == {"sensitive"}
    await http.delete(f"{KNOWLEDGE}/documents/{second}")
    assert await issues(http) == []


async def test_an_answer_against_a_document_is_found_and_a_check_says_what_it_saw(
    http: httpx.AsyncClient,
) -> None:
    async def page() -> dict[str, Any]:
        body: dict[str, Any] = (await http.get(f"{KNOWLEDGE}/quality/issues")).json()
        return body

    policy = await upload(http, "支付.md", "# 支付方式\n\n不支持货到付款与现金支付。\n")
    entry = {"question": "支持货到付款吗？", "answer": "支持货到付款，收到货再付钱。"}
    faq = (await http.post(f"{KNOWLEDGE}/faqs", json=entry)).json()["id"]
    await check(http, document_id=policy)
    assert (await page())["last_check"] is None, "one document is not the whole base"
    await check(http)
    body = await page()
    (issue,) = body["items"]
    assert (issue["kind"], issue["severity"]) == ("answer_conflict", "high")
    assert (issue["document_id"], issue["other_document_id"]) == (faq, policy)
    assert issue["values"] == ["支持货到付款", "不支持货到付款与现金支付"]
    last = body["last_check"]
    assert {name: last[name] for name in ("documents", "passages", "answers", "searches", "changed")} == {
        "documents": 1,
        "passages": 1,
        "answers": 1,
        "searches": 0,
        "changed": 0,
    }
    entry["answer"] = "抱歉，不支持货到付款。"
    await http.put(f"{KNOWLEDGE}/faqs/{faq}", json=entry)
    assert (await page())["last_check"]["changed"] == 1
    await check(http)
    assert (await page())["items"] == []
