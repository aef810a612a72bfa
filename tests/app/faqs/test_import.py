from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from agents.types import Button
from app.db.base import now
from app.db.engine import Database
from app.errors import NotFound
from app.faqs.importer import FaqImporter
from app.faqs.repository import FaqRepository, add
from app.faqs.service import FaqService
from app.faqs.transfer import FaqRowRefused, FaqSheetRow, read_faqs, write_faqs
from app.faqs.types import Faq, FaqState
from app.spreadsheets import XLSX
from knowledge.sheets import read_sheet
from tests.app.serving import served
from tests.sheets import build_workbook, read_here

PATH = "/api/v1/knowledge/faqs"
FILE = """问题,答案,相似问,按钮,状态
怎么改地址,发货前在订单详情里改。,改地址|地址填错了,改地址|https://a.example/orders,
几点下班,六点。,,转人工|转人工,草稿
,没有问题。,,,
请问怎么改地址？,又一个。,,,
危险按钮,有。,,点我|javascript:alert(1),
状态不对,有。,,,也许
"""


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        served(tmp_path) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield client


async def taken(http: httpx.AsyncClient, content: bytes | str, **query: Any) -> dict[str, Any]:
    answer = await http.post(f"{PATH}/import", content=content, params=query)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_a_dry_run_says_what_would_become_of_each_row_and_writes_nothing(http: httpx.AsyncClient) -> None:
    dry = await taken(http, FILE, dry_run=True)
    assert (await http.get(PATH)).json()["total"] == 0
    assert (dry["added"], dry["changed"], dry["unchanged"]) == (3, 0, 0)
    assert [(one["row"], one["field"]) for one in dry["refused"]] == [(4, "question"), (5, "question"), (7, "state")]
    assert "第 2 行" in dry["refused"][1]["message"]
    assert await taken(http, FILE) == dry
    items = {one["question"]: one for one in (await http.get(PATH)).json()["items"]}
    assert items["几点下班"]["state"] == "draft" and items["怎么改地址"]["variants"] == ["改地址", "地址填错了"]
    assert items["怎么改地址"]["buttons"] == [{"label": "改地址", "url": "https://a.example/orders", "message": ""}]
    assert items["危险按钮"]["buttons"] == [{"label": "点我", "url": "", "message": "javascript:alert(1)"}]
    answered = (await http.post("/api/v1/chat", json={"message": "地址填错了"})).json()
    assert answered["reply"] == "发货前在订单详情里改。[1]"


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
async def test_what_goes_out_comes_in_again_and_changes_nothing(http: httpx.AsyncClient, kind: str) -> None:
    await taken(http, FILE)
    await http.post(PATH, json={"question": "=1+1 是什么", "answer": "@SUM(A1)", "variants": ["A|B 怎么选"]})
    before = (await http.get(PATH)).json()["items"]
    given = await http.get(f"{PATH}/export", params={"format": kind})
    assert given.headers["content-type"].split(";")[0] == (XLSX if kind == "xlsx" else "text/csv")
    if kind == "csv":
        assert "'=1+1" in given.text and "'@SUM" in given.text  # no spreadsheet runs it
    again = await taken(http, given.content)
    assert (again["added"], again["refused"]) == (0, []) and again["unchanged"] >= 3
    after = (await http.get(PATH)).json()["items"]
    assert {one["id"]: one["answer"] for one in after} == {one["id"]: one["answer"] for one in before}
    rows = read_sheet("a", given.content).rows
    assert {row.cells["问题"] for row in rows} >= {"=1+1 是什么", "怎么改地址"}


async def test_a_row_changes_the_entry_of_its_id_or_of_its_question(http: httpx.AsyncClient) -> None:
    made = (await http.post(PATH, json={"question": "怎么改地址", "answer": "旧。"})).json()
    other = (await http.post(PATH, json={"question": "几点下班", "answer": "六点。"})).json()
    file = f"id,question,answer,variants\n{other['id']},何时下班,七点。,\n,怎么改地址,新。,几点下班\n"
    first = await taken(http, file)
    assert (first["added"], first["changed"]) == (0, 1)
    assert [one["row"] for one in first["refused"]] == [3]  # its variant was the other entry's when the file came
    again = await taken(http, file)
    assert (again["changed"], again["unchanged"], again["refused"]) == (1, 1, [])
    assert (await http.get(f"{PATH}/{made['id']}")).json()["answer"] == "新。"
    assert (await http.get(f"{PATH}/{other['id']}")).json()["question"] == "何时下班"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04broken", "答案\n有\n".encode()])
async def test_a_file_that_is_none_is_refused(http: httpx.AsyncClient, content: bytes) -> None:
    answer = await http.post(f"{PATH}/import", content=content)
    refused = answer.status_code in (413, 415, 422) or answer.json()["refused"][0]["row"] == 1
    assert refused and (await http.get(PATH)).json()["total"] == 0


async def test_a_row_of_too_many_wordings_is_refused_before_they_are_looked_at(http: httpx.AsyncClient) -> None:
    told = await taken(http, "问题,答案,相似问\n怎么退货,七天内。," + "|".join(["退货"] * 51) + "\n几点下班,六点。,\n")
    assert [(one["row"], one["field"]) for one in told["refused"]] == [(2, "variants")]
    assert told["added"] == 1


async def test_an_entry_that_is_deleted_while_a_file_comes_in_is_told_and_the_rest_is_taken(database: Database) -> None:
    class Deleting:
        """The entry is there when rows are planned, and gone when they are written."""

        stored = FaqRepository(database)

        async def write(self, tenant: str, added: Sequence[Faq], changed: Sequence[Faq]) -> int:
            if changed:
                raise NotFound("没有找到这条精选问答，可能已被删除。")
            return 0

        async def wait_for_revision(self, tenant: str, revision: int) -> bool:
            return True

    entry = Faq("e", "几点下班", "六点。", (), (), FaqState.DRAFT, "", 0, True, now(), now())
    await database.transact(lambda connection: add(connection, "t", 0, [entry]))
    rows = await read_faqs("问题,答案,状态\n几点下班,七点。,草稿\n".encode(), read_here)
    done = await FaqImporter(cast(FaqService, Deleting())).run("t", rows)
    assert (done.changed, [one.row for one in done.refused]) == (0, [2])


HEADED = "客服问答整理表\n标准问题,标准答案\n电池多重,约 8, 5 公斤\n能否试骑,可以\n"


@pytest.mark.parametrize("names", ["标准问题,标准答案", "问,答", "Q,A", "客户问题,标准话术"])
async def test_names_of_columns_are_known_as_in_documents_below_a_title_too(
    http: httpx.AsyncClient, names: str
) -> None:
    told = await taken(http, HEADED.replace("标准问题,标准答案", names))
    assert (told["added"], told["refused"]) == (2, [])
    answers = {one["question"]: one["answer"] for one in (await http.get(PATH)).json()["items"]}
    assert answers == {"电池多重": "约 8, 5 公斤", "能否试骑": "可以"}


async def test_row_with_more_cells_than_the_header_is_refused_where_its_answer_is_not_the_last(
    http: httpx.AsyncClient,
) -> None:
    told = await taken(http, "问题,答案,相似问\n电池多重,约 8,5 公斤,电池重量\n能否试骑,可以,试骑\n")
    assert told["added"] == 1
    (refused,) = told["refused"]
    assert refused["row"] == 2 and "第 2 行" in refused["message"]
    assert (await http.get(PATH, params={"q": "约 8"})).json()["total"] == 0


async def test_first_sheet_of_explanations_is_passed_over() -> None:
    sheets: dict[str, Sequence[Sequence[object]]] = {
        "填写说明": [["请按列填写"], ["一行一条"]],
        "问答": [["2025 年整理"], ["问", "答"], ["能否试骑", "可以"]],
    }
    (row,) = await read_faqs(build_workbook(sheets), read_here)
    assert isinstance(row, FaqSheetRow)
    assert (row.row, row.entry.question, row.entry.answer) == (3, "能否试骑", "可以")


@pytest.mark.parametrize("variant", ["A|B 两款差在哪", "a\\|b", "路径 C:\\", "\\\\服务器\\共享|怎么连", "||"])
async def test_a_bar_in_a_wording_survives_export_and_import(variant: str) -> None:
    buttons = (Button("看 A|B", "", "看|说明"),)
    made = now()
    faq = Faq("1", "差在哪", "看参数。", (variant, "另一种"), buttons, FaqState.PUBLISHED, "", 0, True, made, made)
    for name in ("a.csv", "a.xlsx"):
        (row,) = await read_faqs(write_faqs(name, [faq])[0], read_here)
        assert isinstance(row, FaqSheetRow)
        assert (row.entry.variants, row.entry.buttons) == (faq.variants, faq.buttons)


async def test_file_without_the_columns_says_so() -> None:
    (refused,) = await read_faqs("型号,价格\nCT-20,2899\n".encode(), read_here)
    assert isinstance(refused, FaqRowRefused) and refused.row == 1
