from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.spreadsheets import write_xlsx

PATH = "/api/v1/knowledge/vocabulary"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    made = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def http(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


async def put(http: httpx.AsyncClient, kind: str, term: str, *others: str, **also: Any) -> httpx.Response:
    return await http.put(PATH, json={"kind": kind, "term": term, "others": others, **also})


async def test_an_entry_is_listed_replaced_and_deleted(http: httpx.AsyncClient) -> None:
    made = await put(http, "abbreviation", "雲一", "云朵一号")
    assert (made.status_code, made.json()["others"]) == (200, ["云朵一号"])
    again = await put(http, "abbreviation", "云一", "云朵二号")
    same = await put(http, "abbreviation", "云一", "云朵二号")
    assert same.json()["id"] == again.json()["id"] != made.json()["id"]
    page = (await http.get(PATH, params={"q": "二号", "kind": "abbreviation"})).json()
    assert ([entry["term"] for entry in page["entries"]], page["counts"]) == (["云一"], {"abbreviation": 1})
    gone = f"{PATH}/{again.json()['id']}"
    assert [(await http.delete(gone)).status_code for _ in range(2)] == [204, 404]
    assert (await http.get(PATH)).json()["total"] == 0


async def test_what_cannot_stand_together_is_refused_by_name(http: httpx.AsyncClient) -> None:
    await put(http, "word", "云朵一号")
    await put(http, "synonym", "快递", "物流")
    await put(http, "abbreviation", "云一", "云朵一号")
    refused = {
        "also_stop_word": await put(http, "stop", "云朵一號"),
        "synonym_chain": await put(http, "synonym", "运单", "物流"),
        "same_term": await put(http, "synonym", "退款", "退款"),
        "others_missing": await put(http, "abbreviation", "云二"),
        "unknown_entity_kind": await put(http, "entity", "云朵", "水果"),
    }
    chained = await put(http, "abbreviation", "小云", "云一")
    assert [(response.status_code, response.json()["error"]["code"]) for response in refused.values()] == [
        (409, code) for code in refused
    ]
    assert chained.json()["error"]["code"] == "synonym_chain"


async def test_a_file_goes_out_and_comes_back_with_each_bad_row_named(http: httpx.AsyncClient) -> None:
    rows = "kind,term,others,both_ways\nsynonym,快递,物流|运单,否\nword,'=SUM(A1),,\n水果,甲,,\nstop,快递,,\n"
    taken = (await http.post(f"{PATH}/import", content=rows.encode("gbk"), headers={"Content-Type": "text/csv"})).json()
    assert (taken["taken"], [(one["row"], one["code"]) for one in taken["refused"]]) == (
        2,
        [(4, "unknown_kind"), (5, "also_stop_word")],
    )
    file = await http.get(f"{PATH}/export")
    assert file.content.startswith(b"\xef\xbb\xbf") and "'=SUM(A1)" in file.text
    before = (await http.get(PATH)).json()
    assert {(entry["term"], entry["both_ways"]) for entry in before["entries"]} == {("=SUM(A1)", True), ("快递", False)}
    back = await http.post(f"{PATH}/import", content=file.content, headers={"Content-Type": "text/csv"})
    assert back.json() == {"taken": 2, "refused": []}
    assert (await http.get(PATH)).json() == before
    book = write_xlsx("词表", ["备注", "Kind", "term"], [["", "word", "云朵仓"], ["", "", ""], ["", "水果", "甲"]])
    report = (await http.post(f"{PATH}/import", content=book)).json()
    assert (report["taken"], [one["row"] for one in report["refused"]]) == (1, [4])
    assert (await http.post(f"{PATH}/import", content=b"")).json()["error"]["code"] == "empty_document"


async def test_suggestions_are_accepted_in_one_call_and_gone(http: httpx.AsyncClient) -> None:
    text = "# 笙豆云朵净化仓\n\n" + "\n\n".join(
        f"{before}笙豆云朵{after}"
        for before, after in (("打开", "的盖子。"), ("购买", "后七天可退。"), ("给", "充电。"), ("擦", "前断电。"))
    )
    await http.post("/api/v1/knowledge/documents", files=[("files", ("说明.md", text))])
    found = (await http.get(f"{PATH}/suggestions")).json()["suggestions"]
    assert "笙豆云朵" in [one["term"] for one in found]
    entries = [{"kind": one["kind"], "term": one["term"], "others": one["others"]} for one in found]
    assert (await http.post(f"{PATH}/entries", json={"entries": entries})).json()["taken"] == len(found)
    left = (await http.get(f"{PATH}/suggestions")).json()["suggestions"]
    assert not {one["term"] for one in left} & {one["term"] for one in found}


async def test_what_caches_go_by_changes_with_the_words(http: httpx.AsyncClient, app: FastAPI) -> None:
    await http.post("/api/v1/knowledge/documents", files=[("files", ("说明.md", "# 云朵一号\n\n保修期十二个月。"))])
    before = await app.state.container.tenants.get_parts("default")
    assert await app.state.container.tenants.get_parts("default") is before
    revision = before.retriever.revision
    await put(http, "stop", "请问")
    after = await app.state.container.tenants.get_parts("default")
    assert after.configuration != before.configuration and after.retriever.revision > revision
    assert (before.analyzer.tokenize_question("请问保修")[0], after.analyzer.tokenize_question("请问保修")[0]) == (
        "请问",
        "保修",
    )
