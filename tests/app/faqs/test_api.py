from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.auth.principal import Role
from app.faqs import service
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app
from app.settings import Settings

PATH = "/api/v1/knowledge/faqs"
RETURN: dict[str, Any] = {
    "question": "拆封的商品能退吗",
    "answer": "拆封后不影响二次销售的，七天内可以退。",
    "variants": ["打开过还能退不", "请问拆封的商品能退吗？"],
    "buttons": [
        {"label": "申请退货", "url": "https://shop.example/return"},
        {"label": "转人工", "message": "转人工"},
    ],
}


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[FastAPI]:
    settings = Settings(
        _env_file=None, data_dir=tmp_path, embedder="hash", vector_store="memory", samples_enabled=False
    )
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def http(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        yield client


async def found(http: httpx.AsyncClient, query: str) -> list[str]:
    answer = await http.post("/api/v1/knowledge/search", json={"query": query})
    assert answer.status_code == 200, answer.text
    return [candidate["document_id"] for candidate in answer.json()["candidates"]]


async def test_what_is_published_is_found_until_it_is_taken_back(http: httpx.AsyncClient) -> None:
    made = await http.post(PATH, json=RETURN)
    assert made.status_code == 201, made.text
    entry = made.json()
    assert entry["variants"] == ["打开过还能退不"]  # the other one is the question itself
    assert (entry["state"], entry["ready"], entry["hits"]) == ("published", True, 0)
    assert [button["label"] for button in entry["buttons"]] == ["申请退货", "转人工"]
    assert (await http.get(f"{PATH}/{entry['id']}")).json() == entry
    assert entry["id"] in await found(http, "拆封的商品能退吗")
    changed = await http.put(f"{PATH}/{entry['id']}", json=RETURN | {"answer": "拆封不退。", "variants": []})
    assert changed.status_code == 200 and changed.json()["created_at"] == entry["created_at"]
    assert entry["id"] in await found(http, "拆封的商品能退吗")
    hidden = await http.put(f"{PATH}/{entry['id']}", json=RETURN | {"draft": True})
    assert (hidden.status_code, hidden.json()["state"]) == (200, "draft")
    assert await found(http, "拆封的商品能退吗") == []
    assert (await http.put(f"{PATH}/{entry['id']}", json=RETURN)).json()["state"] == "published"
    assert (await http.delete(f"{PATH}/{entry['id']}")).status_code == 204
    assert await found(http, "拆封的商品能退吗") == []
    assert (await http.get(f"{PATH}/{entry['id']}")).status_code == 404


async def test_entries_are_no_documents(http: httpx.AsyncClient) -> None:
    entry = (await http.post(PATH, json=RETURN)).json()
    documents = "/api/v1/knowledge/documents"
    assert (await http.get(documents)).json()["total"] == 0
    for call in (
        http.get(f"{documents}/{entry['id']}"),
        http.get(f"{documents}/{entry['id']}/original"),
        http.delete(f"{documents}/{entry['id']}"),
        http.patch(f"{documents}/{entry['id']}", json={"category": "售后"}),
    ):
        assert (await call).status_code == 404
    assert entry["id"] in await found(http, "拆封的商品能退吗")


async def test_lists_are_searched_filtered_and_paged(http: httpx.AsyncClient) -> None:
    for name in ("甲", "乙", "丙"):
        body = {
            "question": f"{name}怎么用",
            "answer": f"{name}的用法",
            "variants": [f"如何使用{name}"],
            "draft": name == "丙",
        }
        assert (await http.post(PATH, json=body)).status_code == 201

    async def listed(**query: Any) -> tuple[list[str], int]:
        page = (await http.get(PATH, params=query)).json()
        return [item["question"] for item in page["items"]], page["total"]

    assert await listed() == (["丙怎么用", "乙怎么用", "甲怎么用"], 3)
    assert await listed(limit=1, offset=1) == (["乙怎么用"], 3)
    assert await listed(state="draft") == (["丙怎么用"], 1)
    assert await listed(q="如何使用甲") == (["甲怎么用"], 1)
    assert await listed(q="100%") == ([], 0)


async def test_a_wording_belongs_to_one_entry(http: httpx.AsyncClient) -> None:
    first = (await http.post(PATH, json=RETURN)).json()
    twin = {"question": "另一个问题", "answer": "x", "variants": ["你好，打开过还能退不！"]}
    taken = await http.post(PATH, json=twin)
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "wording_taken")
    assert taken.json()["error"]["details"] == {"wording": "你好，打开过还能退不！", "faq_id": first["id"]}
    assert (await http.get(PATH)).json()["total"] == 1
    assert (await http.put(f"{PATH}/{first['id']}", json=RETURN | {"variants": []})).status_code == 200
    assert (await http.post(PATH, json=twin)).status_code == 201


@pytest.mark.parametrize(
    "button",
    [
        {"label": "x", "url": "javascript:alert(1)"},
        {"label": "x", "url": "JavaScript:alert(1)"},
        {"label": "x", "url": "data:text/html,x"},
        {"label": "x", "url": "//evil.example"},
        {"label": "x", "url": "https://"},
        {"label": "x", "url": "https://a b"},
        {"label": "x", "url": "vbscript:x"},
        {"label": "x", "url": "https://a.example", "message": "两样都有"},
        {"label": "x"},
    ],
)
async def test_a_button_opens_only_what_is_safe(http: httpx.AsyncClient, button: dict[str, str]) -> None:
    refused = await http.post(PATH, json=RETURN | {"buttons": [button]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_faq")


@pytest.mark.parametrize("url", ["https://shop.example/a?b=c#d", "mailto:help@shop.example", "tel:+864001234567"])
async def test_addresses_mail_and_telephone_may_be_opened(http: httpx.AsyncClient, url: str) -> None:
    made = await http.post(PATH, json=RETURN | {"buttons": [{"label": "打开", "url": url}]})
    assert made.json()["buttons"][0]["url"] == url


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": "？？", "answer": "x"}, 400),
        ({"question": "", "answer": "x"}, 422),
        ({"question": "x" * 201, "answer": "x"}, 422),
        ({"question": "x"}, 422),
        ({"question": "x", "answer": "y", "variants": ["z"] * 51}, 422),
        ({"question": "x", "answer": "y", "unknown": 1}, 422),
    ],
)
async def test_what_makes_no_sense_is_refused(http: httpx.AsyncClient, body: dict[str, Any], status: int) -> None:
    assert (await http.post(PATH, json=body)).status_code == status


async def test_one_that_is_gone_is_told_so(http: httpx.AsyncClient) -> None:
    gone = f"{PATH}/unknown"
    for answer in (await http.get(gone), await http.put(gone, json=RETURN), await http.delete(gone)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "faq_not_found")


async def test_there_is_an_end_to_them(http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_ENTRIES", 1)
    assert (await http.post(PATH, json=RETURN)).status_code == 201
    refused = await http.post(PATH, json={"question": "一", "answer": "二"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_many_faqs")
    assert (await http.get(PATH)).json()["total"] == 1


async def test_administrators_write_staff_read_and_companies_do_not_meet(app: FastAPI, http: httpx.AsyncClient) -> None:
    keys = KeyRepository(app.state.container.base.database)
    given = {"k1": ("a", Role.ADMIN), "k2": ("b", Role.ADMIN), "k3": ("a", Role.AGENT), "k4": ("a", Role.CLIENT)}
    for secret, (tenant, role) in given.items():
        await keys.create(tenant, role, f"{secret} 的名字", hash_key(secret))
    app.state.container.keys._fresh_until = float("-inf")
    headers = {secret: {"X-API-Key": secret} for secret in given}
    made = await http.post(PATH, json=RETURN, headers=headers["k1"])
    assert made.json()["author"] == "k1 的名字"
    of_a = f"{PATH}/{made.json()['id']}"
    assert (await http.post(PATH, json=RETURN, headers=headers["k2"])).status_code == 201  # its own
    assert (await http.get(of_a, headers=headers["k3"])).status_code == 200
    assert (await http.get(of_a, headers=headers["k2"])).status_code == 404
    assert (await http.delete(of_a, headers=headers["k2"])).status_code == 404
    for secret in ("k3", "k4"):
        assert (await http.put(of_a, json=RETURN, headers=headers[secret])).status_code == 403
    assert (await http.get(PATH, headers=headers["k4"])).status_code == 403
