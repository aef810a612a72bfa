"""A language model is connected while the service runs: tried, kept encrypted, used at once and by every process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import select

from app.auth.principal import Role
from app.connection.sealer import FILE, Sealer
from app.connection.tables import ModelConnectionRow
from app.errors import Conflict
from app.main import create_app
from app.settings import Settings
from app.wiring.container import Container
from scripts.scripted_llm import Behaviour, Say, ScriptedLLM
from tests.app.auth.test_auth import key_of

PATH = "/api/v1/models/connection"
KEY = "sk-of-the-company"


@asynccontextmanager
async def served(folder: Path, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Container]]:
    own: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    app = create_app(Settings(data_dir=folder, reader_enabled=False, **own | settings))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http,
    ):
        await app.state.container.startup.ready.wait()
        yield http, app.state.container


def wish(llm: ScriptedLLM, **more: str) -> dict[str, str]:
    return {"provider": "compatible", "base_url": llm.base_url, "model": "large", "api_key": KEY} | more


async def asked(http: httpx.AsyncClient, question: str) -> dict[str, Any]:
    response = await http.post("/api/v1/chat", json={"message": question})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_a_connected_model_writes_the_next_answer_until_it_is_disconnected(tmp_path: Path) -> None:
    document = [("files", ("退货.md", "# 退货\n\n质量问题的退货运费由商城承担。"))]
    async with ScriptedLLM(Behaviour.ANSWER) as llm, served(tmp_path) as (http, container):
        await http.post("/api/v1/knowledge/documents", params={"wait": 60}, files=document)
        await container.base.wait_until_settled()
        question = "质量问题的退货运费由谁承担"
        await asked(http, question)
        assert (await http.get(PATH)).json()["source"] == "none"
        made = (await http.put(PATH, json=wish(llm))).json()
        assert (made["source"], made["models"], made["has_key"]) == ("console", ["large"], True)
        assert KEY not in str(made)
        requests = llm.requests
        await asked(http, question)
        assert llm.requests > requests, "an answer of before is not shown again"
        assert llm.headers[-1]["authorization"] == f"Bearer {KEY}"
        async with container.base.database.read() as connection:
            row = (await connection.execute(select(ModelConnectionRow))).one()
        assert KEY not in str(row._mapping)
        gone = (await http.delete(PATH)).json()
        assert (gone["source"], gone["models"], gone["has_key"]) == ("none", [], False)
        requests = llm.requests
        await asked(http, question)
        assert llm.requests == requests


async def test_another_process_and_the_next_start_take_it_over(tmp_path: Path) -> None:
    async with ScriptedLLM(Behaviour.ANSWER) as llm:
        async with served(tmp_path) as (http, container):
            await http.put(PATH, json=wish(llm))
            other = container.connections.__class__(
                container.settings,
                container.connections._stored,
                container.connections._sealer,
                container._connect_model,
            )
            version = container.models.version
            await other.follow()
            assert container.models.version == version + 1
            await other.follow()
            assert container.models.version == version + 1
        async with served(tmp_path) as (http, _):
            assert (await http.get(PATH)).json()["models"] == ["large"]
        async with served(tmp_path, secrets_key=SecretStr("another")) as (http, _):
            found = (await http.get(PATH)).json()
            assert found["models"] == [] and "SECRETS_KEY" in found["problem"]


async def test_a_test_shows_the_answer_or_why_there_is_none_and_keeps_nothing(tmp_path: Path) -> None:
    async with ScriptedLLM(Say("您好，我是助手。")) as llm, served(tmp_path) as (http, _):
        good = (await http.post(f"{PATH}/test", json=wish(llm))).json()
        assert (good["reply"], good["error"]) == ("您好，我是助手。", "")
        assert 0 < good["first_token_ms"] <= good["total_ms"]
        llm.script = (Behaviour.BROKEN,)
        bad = (await http.post(f"{PATH}/test", json=wish(llm))).json()
        assert bad["error"] and bad["first_token_ms"] is None
        assert (await http.get(PATH)).json()["source"] == "none"


async def test_a_kept_key_is_sent_to_its_own_address_alone(tmp_path: Path) -> None:
    async with ScriptedLLM(Say("好")) as llm, ScriptedLLM(Say("好")) as thief, served(tmp_path) as (http, _):
        await http.put(PATH, json=wish(llm))
        assert (await http.post(f"{PATH}/test", json=wish(llm, api_key="", model="small"))).json()["reply"] == "好"
        assert llm.headers[-1]["authorization"] == f"Bearer {KEY}"
        for method, path in (("PUT", PATH), ("POST", f"{PATH}/test")):
            refused = await http.request(method, path, json=wish(thief, api_key=""))
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "key_needed")
        assert thief.requests == 0
        assert (await http.put(PATH, json={"provider": "compatible", "model": "m"})).status_code == 422


async def test_a_key_that_no_header_can_hold_is_refused(tmp_path: Path) -> None:
    async with ScriptedLLM(Say("好")) as llm, served(tmp_path) as (http, _):
        for method, path in (("PUT", PATH), ("POST", f"{PATH}/test")):
            refused = await http.request(method, path, json=wish(llm, api_key="密钥"))
            assert (refused.status_code, "半角" in refused.json()["error"]["message"]) == (422, True)
        assert (await http.get(PATH)).json()["source"] == "none"


async def test_the_environment_wins(tmp_path: Path) -> None:
    async with ScriptedLLM(Behaviour.ANSWER) as llm:
        settings = {"llm_base_url": llm.base_url, "llm_api_key": SecretStr("key"), "llm_model": "of the environment"}
        async with served(tmp_path, **settings) as (http, _):
            found = (await http.get(PATH)).json()
            assert (found["source"], found["manageable"]) == ("environment", False)
            assert found["models"] == ["of the environment"]
            for response in (await http.put(PATH, json=wish(llm)), await http.delete(PATH)):
                assert (response.status_code, response.json()["error"]["code"]) == (409, "set_elsewhere")


async def test_another_tenant_sees_that_there_is_one_and_no_more(tmp_path: Path) -> None:
    async with ScriptedLLM(Behaviour.ANSWER) as llm, served(tmp_path) as (http, container):
        await http.put(PATH, json=wish(llm))
        headers = await key_of(container, "acme", Role.ADMIN)
        container.keys.expire_copy()
        found = (await http.get(PATH, headers=headers)).json()
        assert (found["models"], found["base_url"], found["manageable"]) == (["large"], "", False)
        assert (await http.put(PATH, json=wish(llm), headers=headers)).status_code == 403
        assert (await http.post(f"{PATH}/test", json=wish(llm), headers=headers)).status_code == 403


def test_what_is_sealed_opens_with_the_same_key_alone(tmp_path: Path) -> None:
    own = Sealer("", tmp_path)
    sealed = own.encrypt("secret")
    assert Sealer("", tmp_path).decrypt(sealed) == "secret" and (tmp_path / FILE).exists()
    with pytest.raises(Conflict):
        Sealer("configured", tmp_path).decrypt(sealed)
    assert own.encrypt("") == own.decrypt("") == ""
