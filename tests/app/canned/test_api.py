from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from app.auth.principal import Role
from app.canned import service
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from app.main import create_app
from app.settings import Settings

PATH = "/api/v1/agent/canned"


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


async def test_replies_are_written_changed_and_deleted_in_the_order_of_their_shortcuts(http: httpx.AsyncClient) -> None:
    made = [await http.post(PATH, json={"shortcut": name, "text": f" {name}的话 "}) for name in ("b", "a")]
    assert [answer.status_code for answer in made] == [201, 201]
    listed = (await http.get(PATH)).json()["replies"]
    assert [(reply["shortcut"], reply["text"]) for reply in listed] == [("a", "a的话"), ("b", "b的话")]
    of_a = f"{PATH}/{listed[0]['id']}"
    assert (await http.put(of_a, json={"shortcut": "c", "text": "改了"})).json()["text"] == "改了"
    assert (await http.delete(f"{PATH}/{listed[1]['id']}")).status_code == 204
    assert [reply["shortcut"] for reply in (await http.get(PATH)).json()["replies"]] == ["c"]


async def test_a_shortcut_finds_one_reply_alone(http: httpx.AsyncClient) -> None:
    first, second = [
        (await http.post(PATH, json={"shortcut": name, "text": "您好"})).json()["id"] for name in ("hi", "yo")
    ]
    taken = await http.post(PATH, json={"shortcut": "hi", "text": "另一条"})
    assert (taken.status_code, taken.json()["error"]["code"]) == (409, "shortcut_taken")
    assert (await http.put(f"{PATH}/{second}", json={"shortcut": "hi", "text": "您好"})).status_code == 409
    assert (await http.put(f"{PATH}/{first}", json={"shortcut": "hi", "text": "早上好"})).status_code == 200


@pytest.mark.parametrize("shortcut", ["a b", "", " a", "a\u200b", "\u0084"])
async def test_a_shortcut_is_what_its_pattern_says(http: httpx.AsyncClient, shortcut: str) -> None:
    assert (await http.post(PATH, json={"shortcut": shortcut, "text": "x"})).status_code == 422
    assert (await http.post(PATH, json={"shortcut": "a"})).status_code == 422


async def test_one_that_is_gone_is_told_so(http: httpx.AsyncClient) -> None:
    gone = f"{PATH}/unknown"
    for answer in (await http.put(gone, json={"shortcut": "a", "text": "b"}), await http.delete(gone)):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "canned_not_found")


async def test_there_is_an_end_to_them(http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MOST", 1)
    assert (await http.post(PATH, json={"shortcut": "a", "text": "b"})).status_code == 201
    assert (await http.post(PATH, json={"shortcut": "b", "text": "b"})).json()["error"]["code"] == "too_many_canned"


async def test_staff_of_one_company_see_theirs_and_customers_none(app: FastAPI, http: httpx.AsyncClient) -> None:
    keys = KeyRepository(app.state.container.base.database)
    given = {"k1": ("default", Role.AGENT), "k2": ("other", Role.AGENT), "k3": ("default", Role.CLIENT)}
    for secret, (tenant, role) in given.items():
        await keys.create(tenant, role, secret, hash_key(secret))
    app.state.container.keys._fresh_until = float("-inf")
    seen = {}
    for secret in given:
        headers = {"X-API-Key": secret}
        if secret == "k1":
            assert (await http.post(PATH, json={"shortcut": "a", "text": "b"}, headers=headers)).status_code == 201
        answer = await http.get(PATH, headers=headers)
        seen[secret] = len(answer.json()["replies"]) if answer.status_code == 200 else answer.status_code
    assert seen == {"k1": 1, "k2": 0, "k3": 403}
