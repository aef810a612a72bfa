from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select, text

from app.audit.repository import AuditFilter, AuditRepository
from app.audit.tables import AuditRow
from app.auth.principal import Role
from app.http.routes import allow_of, is_audited
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from scripts.audit import main
from scripts.keys import main as keys_main
from tests.app.auth.test_auth import routes
from tests.app.serving import Served, served

PATH = "/api/v1/audit"
FIRST = "the-first-admin-key"


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=FIRST) as running:
        yield running


@pytest.fixture
async def client(product: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=product.address, headers={"X-API-Key": FIRST}) as client:
        yield client


async def entries(client: httpx.AsyncClient, **query: Any) -> list[dict[str, Any]]:
    response = await client.get(PATH, params=query)
    assert response.status_code == 200, response.text
    items: list[dict[str, Any]] = response.json()["items"]
    return items


async def test_who_did_what_to_which_id_is_told_without_secrets(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/v1/keys", json={"name": "管理员乙", "role": "admin"})).json()
    other = {"X-API-Key": made["key"]}
    refused = await client.delete(f"/api/v1/keys/{made['id']}", headers=other | {"X-Request-ID": "by-itself"})
    assert refused.status_code == 409
    assert (await client.delete(f"/api/v1/keys/{made['id']}")).status_code == 204
    told = [
        (item["action"], item["actor_id"], item["actor"], item["target"], item["outcome"])
        for item in await entries(client)
    ]
    assert told == [
        ("revoke_key", "first", "API_KEY", {"key_id": made["id"]}, "done"),
        ("revoke_key", made["id"], "管理员乙", {"key_id": made["id"]}, "refused"),
        ("create_key", "first", "API_KEY", {"id": made["id"]}, "done"),
    ]
    assert [item["request_id"] for item in await entries(client, outcome="refused")] == ["by-itself"]
    assert len(await entries(client, actor="管理员乙")) == len(await entries(client, actor=made["id"])) == 1
    assert [item["action"] for item in await entries(client, limit=1, offset=2)] == ["create_key"]
    page = (await client.get(PATH, params={"action": "revoke_key", "limit": 1})).json()
    assert (page["total"], len(page["items"])) == (2, 1)
    assert made["key"] not in (await client.get(PATH)).text


async def test_what_is_invalid_counts_as_refused_and_reading_is_no_action(client: httpx.AsyncClient) -> None:
    assert (await client.post("/api/v1/keys", json={"role": "root"})).status_code == 422
    await client.get("/api/v1/keys")
    await client.post("/api/v1/chat", json={"message": "你好"})
    assert [(item["action"], item["outcome"]) for item in await entries(client)] == [("create_key", "refused")]


async def test_the_log_is_the_tenants_own_and_for_administrators(client: httpx.AsyncClient, product: Served) -> None:
    keys = KeyRepository(product.container.base.database)
    await keys.create("other", Role.ADMIN, "别人", hash_key("theirs"))
    await keys.create("default", Role.AGENT, "客服", hash_key("agent"))
    product.container.keys.expire_copy()
    await client.post("/api/v1/keys", json={"name": "官网", "role": "client"})
    assert (await client.get(PATH, headers={"X-API-Key": "theirs"})).json()["total"] == 0
    assert (await client.get(PATH, headers={"X-API-Key": "agent"})).status_code == 403


async def test_where_nothing_can_be_written_down_nothing_is_done(client: httpx.AsyncClient, product: Served) -> None:
    async with product.container.base.database.write() as connection:
        await connection.execute(text("ALTER TABLE audit_log RENAME TO away"))
    assert (await client.post("/api/v1/keys", json={"name": "官网", "role": "client"})).status_code >= 500
    assert (await client.get("/api/v1/keys")).json()["total"] == 0


async def test_an_action_that_was_cut_off_leaves_its_row(
    client: httpx.AsyncClient, product: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut(*given: object) -> None:
        raise OSError("gone")

    monkeypatch.setattr(product.container.audit.repository, "finish", cut)
    assert (await client.post("/api/v1/keys", json={"name": "官网", "role": "client"})).status_code == 201
    async with product.container.base.database.read() as connection:
        (row,) = await connection.execute(select(AuditRow.action, AuditRow.outcome))
    assert tuple(row) == ("create_key", None)


def test_every_change_by_administrators_is_an_action() -> None:
    allowed = [(method, route, allow_of(route.dependant)) for method, route in routes()]
    changing = [(route, allow) for method, route, allow in allowed if method != "GET" and allow is not None]
    alone = {route.name for route, allow in changing if allow.roles == {Role.ADMIN}}
    written = {route.name for route, allow in changing if is_audited(route.methods or set(), allow.roles)}
    assert len(alone) > 40
    assert alone <= written
    assert "delete_conversation" in written and "chat" not in written


def test_the_command_line_is_written_down_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    keys_main(["create", "--role", "admin", "--tenant", "acme", "--name", "甲"])
    key_id = capsys.readouterr().err.split("密钥 ")[1].split("（")[0]
    keys_main(["expire", key_id, "--days", "3"])
    keys_main(["revoke", key_id])
    keys_main(["revoke", key_id])
    capsys.readouterr()
    assert main(["--tenant", "acme"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[4] for line in lines] == ["revoke_key", "revoke_key", "change_key", "create_key"]
    assert [line.split()[-1] for line in lines] == ["refused", "done", "done", "done"]
    assert all(key_id in line and "scripts" in line for line in lines)
    assert main(["--tenant", "acme", "--outcome", "refused"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


async def test_a_page_says_what_time_it_is_of(product: Served, client: httpx.AsyncClient) -> None:
    await client.post("/api/v1/keys", json={"name": "官网", "role": "client"})
    (item,) = await entries(client)
    assert [one["id"] for one in await entries(client, since=item["at"])] == [item["id"]]
    assert await entries(client, until=item["at"]) == []
    repository = AuditRepository(product.container.base.database)
    assert (await repository.page("default", AuditFilter(), 10, 0))[1] == 1
