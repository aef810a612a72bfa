from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from pydantic import BaseModel
from sqlalchemy import select, text

from app.audit.actions import COMMAND_LINE, MADE, AuditAction
from app.audit.repository import AuditFilter, AuditRepository
from app.audit.sentences import load_catalogue
from app.audit.tables import AuditRow
from app.auth.principal import Role
from app.db.engine import Database
from app.http.routes import allow_of, is_written_down
from app.keys.repository import KeyRepository
from app.keys.service import hash_key
from scripts.audit import main
from scripts.keys import main as keys_main
from tests.app.auth.test_auth import routes
from tests.app.serving import Served, served

PATH = "/api/v1/audit"
FIRST = "the-first-admin-key"
# For administrators and by POST, and nothing is another after it.
PREVIEWS = {"preview_document", "estimate_judgement", "test_model_connection"}


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

    monkeypatch.setattr(product.container.audit.repository, "set_outcome", cut)
    assert (await client.post("/api/v1/keys", json={"name": "官网", "role": "client"})).status_code == 201
    async with product.container.base.database.read() as connection:
        (row,) = await connection.execute(select(AuditRow.action, AuditRow.outcome))
    assert tuple(row) == ("create_key", None)


def test_every_change_by_administrators_is_an_action() -> None:
    allowed = [(method, route, allow_of(route.dependant)) for method, route in routes()]
    changing = [(route, allow) for method, route, allow in allowed if method != "GET" and allow is not None]
    alone = {route.name for route, allow in changing if allow.roles == {Role.ADMIN}}
    written = {route.name for route, _ in changing if is_written_down(route)}
    assert len(alone) > 40
    assert alone - written == PREVIEWS
    assert "delete_conversation" in written and "chat" not in written


def test_every_action_has_its_sentence_in_both_languages() -> None:
    catalogue = load_catalogue()
    written = {route.name for _, route in routes() if is_written_down(route)}
    assert {name.partition(" ")[0] for name in catalogue.actions} == written
    assert {kind for kind, *_ in catalogue.actions.values()} == set(catalogue.kinds)
    assert set(MADE) <= written
    sent = {
        name
        for _, route in routes()
        if route.body_field is not None and "{fields}" in "".join(catalogue.actions.get(route.name, ()))
        for name in cast(type[BaseModel], route.body_field.field_info.annotation).model_fields
    }
    assert sent == set(catalogue.fields), "fields that were sent are told by their names"


async def test_every_job_is_called_by_its_name(product: Served) -> None:
    assert set(product.container.jobs.kinds) == set(load_catalogue().jobs)


async def test_an_entry_is_a_sentence_with_the_name_of_then(client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/v1/keys", json={"name": "官网", "role": "client"})).json()["id"]
    await client.patch(f"/api/v1/keys/{made}", json={"name": "商城", "expires_at": None})
    await client.delete(f"/api/v1/keys/{made}")
    told = [(item["sentence"], item["subject"], item["changed"]) for item in await entries(client, kind="key")]
    assert told == [
        ("API_KEY 停用了密钥「商城」", "商城", []),
        ("API_KEY 修改了密钥「官网」：名称、到期", "官网", ["name", "expires_at"]),
        ("API_KEY 新建了密钥「官网」", "官网", ["name", "role"]),
    ]
    in_english = [item["sentence"] for item in await entries(client, lang="en")]
    assert in_english[:2] == ["API_KEY revoked the key “商城”", "API_KEY changed the key “官网”: name, end"]
    oldest = await entries(client, sort="at")
    assert [item["action"] for item in oldest] == ["create_key", "change_key", "revoke_key"]


async def test_a_deleted_document_keeps_its_name_and_who_disabled_it(client: httpx.AsyncClient) -> None:
    sent = await client.post(
        "/api/v1/knowledge/documents?wait=60", files={"files": ("退换货.md", "# 退换货政策\n\n七天。")}
    )
    document = sent.json()["files"][0]["document_id"]
    path = f"/api/v1/knowledge/documents/{document}"
    assert (await client.patch(path, json={"disabled": True})).json()["document"]["valid"] is False
    assert (await client.delete(path, params={"permanent": True})).status_code in (202, 204)
    sentences = [item["sentence"] for item in await entries(client)]
    assert sentences == [
        "API_KEY 删除了文档《退换货政策》",
        "API_KEY 把文档《退换货政策》设为停用",
        "API_KEY 上传了文档《退换货.md》",
    ]
    assert len(await entries(client, q="退换货政策")) == 2
    assert [item["action"] for item in await entries(client, q=document)] == ["delete_document", "change_document"]
    assert [item["action"] for item in await entries(client, kind="document", action="upload_documents")] == [
        "upload_documents"
    ]
    assert await entries(client, kind="key") == await entries(client, kind="key", action="delete_document") == []


async def test_of_an_address_the_host_alone_is_kept(client: httpx.AsyncClient) -> None:
    hook = {"url": "https://93.184.215.14/services/secret-token", "events": ["ticket.created"]}
    made = (await client.post("/api/v1/webhooks", json=hook)).json()
    await client.delete(f"/api/v1/webhooks/{made['id']}")
    assert [item["subject"] for item in await entries(client)] == ["93.184.215.14"] * 2
    assert "secret-token" not in (await client.get(PATH)).text


async def test_what_changes_nothing_is_no_action(client: httpx.AsyncClient) -> None:
    table = {"file": ("f.csv", "问题,答案\n几点开门,九点\n".encode())}
    assert (await client.post("/api/v1/knowledge/faqs/import?dry_run=true", files=table)).json()["added"] == 1
    draft = {"files": ("a.md", b"# A\n\nB")}
    assert (await client.post("/api/v1/knowledge/documents/preview", files=draft)).status_code == 200
    assert (await client.post("/api/v1/tuner/judgements/estimates", json={})).status_code in (200, 409)
    assert await entries(client) == []
    assert (await client.post("/api/v1/knowledge/faqs/import", files=table)).json()["added"] == 1
    missing = await client.delete("/api/v1/keys/none", params={"dry_run": "true"})
    assert missing.status_code == 404
    assert [(item["action"], item["outcome"]) for item in await entries(client)] == [
        ("revoke_key", "refused"),
        ("import_faqs", "done"),
    ], "who cannot ask for a dry run cannot hide behind its name"


async def test_the_log_is_exported_as_it_is_filtered_and_safe_to_open(client: httpx.AsyncClient) -> None:
    for name in ("=cmd()", "官网"):
        await client.post("/api/v1/keys", json={"name": name, "role": "client"})
    await client.put("/api/v1/profile", json={})
    response = await client.get(f"{PATH}/export", params={"kind": "key", "lang": "en"})
    assert response.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert [(row["Name"], row["Sentence"], row["Thing"], row["Result"]) for row in rows] == [
        ("官网", "API_KEY made the key “官网”", "Key", "done"),
        ("'=cmd()", "API_KEY made the key “=cmd()”", "Key", "done"),
    ]
    chinese = (await client.get(f"{PATH}/export", params={"q": "官网"})).content.decode("utf-8-sig")
    assert chinese.splitlines()[0].startswith("时间,谁,说明") and len(chinese.splitlines()) == 2


async def test_an_export_reads_some_at_a_time_and_stops_at_its_bound(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.audit.repository.BATCH", 2)
    repository = AuditRepository(database)
    for number in range(5):
        await repository.add_action(AuditAction("t", "k", "甲", "create_key", {"id": str(number)}))
        await asyncio.sleep(0.002)  # of one millisecond no entry is known to be the later one
    found = [[one.target["id"] for one in batch] async for batch in repository.iterate_batches("t", AuditFilter(), 3)]
    assert found == [["4", "3"], ["2"]]
    assert (await repository.load_page("t", AuditFilter(text="3"), 9, 0))[1] == 1, "by an id as a whole"
    assert (await repository.load_page("t", AuditFilter(actor="k", actions={"create_key"}), 9, 0))[1] == 5
    assert await repository.list_actors("t") == [("k", "甲")] and await repository.list_actors("other") == []


async def test_the_log_is_narrowed_to_somebody_by_the_choices(client: httpx.AsyncClient, product: Served) -> None:
    repository = AuditRepository(product.container.base.database)
    for actor_id, actor in (("", ""), ("p1", "小艾"), ("p1", "小爱"), (COMMAND_LINE, "")):
        await repository.add_action(AuditAction("default", actor_id, actor, "write_profile", {}))
    choices = (await client.get(f"{PATH}/choices", params={"lang": "en"})).json()
    assert {(one["value"], one["name"]) for one in choices["actors"]} == {
        ("local", "This machine (not signed in)"),
        ("p1", "小爱"),
        (COMMAND_LINE, "The command line"),
    }
    assert {"value": "document", "name": "Document"} in choices["kinds"]
    counts = {one["value"]: len(await entries(client, actor=one["value"])) for one in choices["actors"]}
    assert counts == {"local": 1, "p1": 2, COMMAND_LINE: 1}


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
    assert (await repository.load_page("default", AuditFilter(), 10, 0))[1] == 1
