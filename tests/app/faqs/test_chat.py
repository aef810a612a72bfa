"""Curated answers in the chat, by their wordings: the hash embedder knows no meanings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.serving import Served, served

PATH = "/api/v1/knowledge/faqs"
CHAT = "/api/v1/chat"
ENTRY: dict[str, Any] = {
    "question": "拆封的商品能退吗",
    "answer": "拆封后不影响二次销售的，七天内可以退。",
    "variants": ["打开过包装还能退吗"],
    "buttons": [{"label": "申请退货", "url": "https://shop.example/return"}, {"label": "转人工", "message": "转人工"}],
}
SHOWN = [
    {"label": "申请退货", "url": "https://shop.example/return", "message": ""},
    {"label": "转人工", "url": "", "message": "转人工"},
]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


@pytest.fixture
async def http(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        yield client


async def asked(http: httpx.AsyncClient, message: str, **more: str) -> dict[str, Any]:
    answer = await http.post(CHAT, json={"message": message} | more)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_an_entry_answers_from_its_publication_until_it_is_taken_back(http: httpx.AsyncClient) -> None:
    entry = (await http.post(PATH, json=ENTRY)).json()
    first = await asked(http, "请问，打开过包装还能退吗？")
    assert first["reply"] == ENTRY["answer"] + "[1]"
    data = first["data"]
    assert (data["agent"], data["intent"], data["buttons"]) == ("curated", "curated", SHOWN)
    assert [(one["document_id"], one["heading"]) for one in data["sources"]] == [(entry["id"], ENTRY["question"])]
    assert data["decision"]["intents"] == ["curated"]
    await asked(http, "打开过包装还能退吗")
    again = await asked(http, "打开过包装还能退吗")
    assert (again["data"]["cached"], again["data"]["buttons"]) == (True, SHOWN)
    await http.put(f"{PATH}/{entry['id']}", json=ENTRY | {"answer": "拆封不退。", "buttons": []})
    changed = await asked(http, "打开过包装还能退吗")
    assert (changed["reply"], changed["data"]["cached"]) == ("拆封不退。[1]", False)
    assert "buttons" not in changed["data"]
    await http.put(f"{PATH}/{entry['id']}", json=ENTRY | {"draft": True})
    assert (await asked(http, "打开过包装还能退吗"))["data"]["agent"] != "curated"


async def test_the_stream_and_openais_interface_have_the_buttons(http: httpx.AsyncClient) -> None:
    await http.post(PATH, json=ENTRY)
    body = {"message": ENTRY["question"]}
    lines = (await http.post(f"{CHAT}/stream", json=body)).text.splitlines()
    last = json.loads([line for line in lines if line.startswith("data:")][-1].removeprefix("data:"))
    assert last["data"]["buttons"] == SHOWN
    whole = {"model": "yingda", "messages": [{"role": "user", "content": ENTRY["question"]}]}
    completion = (await http.post("/v1/chat/completions", json=whole)).json()
    assert completion["yingda"]["buttons"] == SHOWN


async def test_later_messages_meet_entries_too_and_history_keeps_the_buttons(http: httpx.AsyncClient) -> None:
    await http.post(PATH, json=ENTRY)
    first = await asked(http, "你好")
    told = await asked(http, ENTRY["question"], session_id=first["session_id"])
    assert told["data"]["buttons"] == SHOWN
    history = (await http.get(f"/api/v1/conversations/{first['session_id']}/history")).json()
    assert history["entries"][-1]["buttons"] == SHOWN and history["entries"][1]["buttons"] == []


async def test_hits_count_the_replies_that_cite_an_entry(http: httpx.AsyncClient) -> None:
    entry = (await http.post(PATH, json=ENTRY)).json()
    other = (await http.post(PATH, json={"question": "几点下班", "answer": "六点。"})).json()
    for _ in range(3):  # the second and third are cached
        await asked(http, ENTRY["question"])
    async with asyncio.timeout(60):
        while (found := (await http.get(f"{PATH}/{entry['id']}")).json())["hits"] < 3:  # noqa: ASYNC110 - counted behind
            await asyncio.sleep(0.02)
    assert found["hits"] == 3
    assert (await http.get(f"{PATH}/{other['id']}")).json()["hits"] == 0


async def test_entries_of_one_company_never_answer_anothers_customers(server: Served, http: httpx.AsyncClient) -> None:
    await http.post(PATH, json=ENTRY)
    books, embedder = server.container.faq_books, server.container.base.embedder
    revision = (await server.container.tenants.get_parts("default")).retriever.revision
    others = await books.get_book("another", embedder, revision)
    assert others is not None and not others
    own = await books.get_book("default", embedder, revision)
    assert own is not None and [entry.question for entry in own.entries] == [ENTRY["question"]]
