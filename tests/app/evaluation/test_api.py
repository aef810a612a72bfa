from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.main import create_app
from app.settings import Settings

PATH = "/api/v1/evaluation/sets"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Settings(data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1")
    async with app.router.lifespan_context(app), client as http:
        yield http


async def test_a_set_is_made_filled_changed_and_deleted(http: httpx.AsyncClient) -> None:
    made = await http.post(PATH, json={"name": " 上线前 "})
    assert (made.status_code, made.json()["name"]) == (201, "上线前")
    assert (await http.post(PATH, json={"name": "上线前"})).json()["error"]["code"] == "set_name_taken"
    of_set = f"{PATH}/{made.json()['id']}"
    question = {"question": "运费谁出", "expect": {"kind": "answer", "must_any": ["商家"]}}
    talk = {"id": "c1", "turns": [{"say": "怎么退款"}, {"say": "要多久", "page": {"title": "退款"}}]}
    put = (await http.post(f"{of_set}/cases", json={"cases": [question, talk]})).json()["cases"]
    assert [len(case["turns"]) for case in put] == [1, 2]
    assert put[0]["turns"][0]["expect"]["must_any"] == [["商家"]]
    changed = await http.put(f"{of_set}/cases/{put[1]['id']}", json={"question": "怎么退款呀"})
    assert (changed.json()["key"], len(changed.json()["turns"])) == ("c1", 1)
    page = (await http.get(f"{of_set}/cases", params={"q": "退款"})).json()
    assert ([case["key"] for case in page["cases"]], page["total"]) == (["c1"], 1)
    assert (await http.delete(f"{of_set}/cases/{put[0]['id']}")).status_code == 204
    assert (await http.put(of_set, json={"name": "上线后", "description": "每周跑"})).json()["cases"] == 1
    assert [one["name"] for one in (await http.get(PATH)).json()["sets"]] == ["上线后"]
    assert [(await http.delete(of_set)).status_code for _ in range(2)] == [204, 404]
    assert (await http.get(f"{of_set}/cases")).status_code == 404


@pytest.mark.parametrize("kind", ["jsonl", "csv", "xlsx"])
async def test_what_is_exported_can_be_imported(http: httpx.AsyncClient, kind: str) -> None:
    one, other = [(await http.post(PATH, json={"name": name})).json()["id"] for name in "ab"]
    cases = [
        {"id": "c1", "turns": [{"say": "=怎么退款"}, {"say": "要多久", "expect": {"must_any": [["3天", "三天"]]}}]}
    ]
    await http.post(f"{PATH}/{one}/cases", json={"cases": [*cases, {"question": "运费|谁出"}]})
    file = await http.get(f"{PATH}/{one}/export", params={"format": kind})
    assert file.headers["content-disposition"] == f'attachment; filename="evaluation.{kind}"'
    assert (await http.post(f"{PATH}/{other}/import", content=file.content)).json() == {"taken": 2, "refused": []}
    pages = [(await http.get(f"{PATH}/{each}/cases")).json() for each in (one, other)]
    same = [[(case["key"], case["turns"]) for case in page["cases"]] for page in pages]
    assert same[0] == same[1]


async def test_a_replacing_import_with_bad_rows_deletes_nothing(http: httpx.AsyncClient) -> None:
    of_set = f"{PATH}/{(await http.post(PATH, json={'name': 'a'})).json()['id']}"
    await http.post(f"{of_set}/cases", json={"cases": [{"id": "old", "question": "甲"}]})

    async def keys_after(text: str) -> tuple[int, list[str]]:
        report = await http.post(f"{of_set}/import", content=text.encode(), params={"replace": True})
        page = (await http.get(f"{of_set}/cases")).json()
        return len(report.json()["refused"]), [case["key"] for case in page["cases"]]

    assert await keys_after("id,question,kind\nb,乙,\nc,丙,没有这种\n") == (1, ["old", "b"])
    assert await keys_after("id,question\nb,乙\n") == (0, ["b"])
    assert (await http.post(f"{of_set}/import", content=b"\x89PNG\0")).status_code in (400, 415, 422)
