from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.errors import InvalidRequest
from app.hit_test.batch import COLUMNS, read_questions
from app.hit_test.schemas import MAX_QUESTIONS
from app.hit_test.trial import Expected
from app.main import create_app
from app.settings import Settings
from app.spreadsheets import write_xlsx
from knowledge.sheets import read_sheet
from tests.sheets import read_here

GUIDE = "# 退货说明\n\n退货的运费由顾客承担，首重 12 元。\n"


@pytest.mark.parametrize(
    "content",
    [
        "退货运费谁出\n\n怎么开发票\n".encode("gbk"),
        "问题\n退货运费谁出\n怎么开发票\n".encode(),
        "编号,问题,之前问过\n1,退货运费谁出,\n2,怎么开发票,\n".encode(),
        write_xlsx("问题", ["question"], [["退货运费谁出"], ["怎么开发票"]]),
        '{"query": "退货运费谁出"}\n{"question": "怎么开发票"}\n'.encode(),
    ],
    ids=["lines", "column", "csv", "xlsx", "jsonl"],
)
async def test_questions_are_read_from_what_people_have(content: bytes) -> None:
    assert [trial.text for trial in await read_questions(content, read_here, decide=False)] == [
        "退货运费谁出",
        "怎么开发票",
    ]


async def test_a_row_may_say_what_was_asked_before_and_what_should_be_found() -> None:
    content = '问题,之前问过,文档编号\n那运费呢,"怎么退货\n要几天",d1\n'.encode()
    [trial] = await read_questions(content, read_here, decide=True)
    assert (trial.text, trial.history, trial.expected) == ("那运费呢", ("怎么退货", "要几天"), Expected("d1", ""))
    assert trial.decide


@pytest.mark.parametrize(
    "content",
    [
        b"\n \n",
        b'{"query": 1}',
        b'{"query": "a", "history": "b"}',
        b'{"query": "a"}\n{',
        b"id,question\n1,\n",
        b"x" * 2001,
        b"a\n" * (MAX_QUESTIONS + 1),
    ],
)
async def test_what_cannot_be_tried_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidRequest):
        await read_questions(content, read_here, decide=False)


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        files = [("files", ("退货说明.md", GUIDE.encode()))]
        assert (await http.post("/api/v1/knowledge/documents?wait=60", files=files)).status_code == 201
        yield http


async def test_many_questions_are_tried_at_once_and_as_a_file(http: httpx.AsyncClient) -> None:
    document = (await http.get("/api/v1/knowledge/documents")).json()["items"][0]["id"]
    questions = [
        {"query": "退货的运费谁承担", "why": {"document_id": document}},
        {"query": "怎么开发票", "why": {"document_id": "none"}},
    ]
    found = await http.post("/api/v1/knowledge/search/batch", json={"questions": questions, "decide": True})
    first, second = found.json()["questions"]
    assert (first["document_id"], first["stage"], second["stage"]) == (document, "passed", "not_found")
    assert first["intents"] and sum(found.json()["counts"].values()) == 2
    assert found.json()["stages"] == {"passed": 1, "not_found": 1}

    lines = "\n".join(json.dumps({"question": one["query"]} | one["why"]) for one in questions)  # type: ignore[operator]
    for kind in ("csv", "xlsx"):
        table = await http.post("/api/v1/knowledge/search/file", content=lines.encode(), params={"format": kind})
        sheet = read_sheet("x", table.content)
        assert sheet.columns == COLUMNS
        assert [row.cells["stage"] for row in sheet.rows] == ["passed", "not_found"]
        assert sheet.rows[0].cells["title"] == "退货说明"


async def test_ids_that_no_database_takes_are_refused_as_empty(http: httpx.AsyncClient) -> None:
    for expected in ({"document_id": "\0"}, {"chunk_id": "\0"}):
        one = await http.post("/api/v1/knowledge/search", json={"query": "退货", "why": expected})
        many = await http.post(
            "/api/v1/knowledge/search/batch", json={"questions": [{"query": "退货", "why": expected}]}
        )
        assert (one.status_code, many.status_code) == (422, 422)
