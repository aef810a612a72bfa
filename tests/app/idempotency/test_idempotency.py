"""A request that is sent again with the same key returns its first result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import select, update

from app.auth.principal import Role
from app.conversations.tables import Conversation, StoredTurn
from app.db.base import now
from app.db.engine import Database
from app.errors import Conflict, Overloaded
from app.idempotency.repository import apply_pad, settle
from app.idempotency.service import RequestAttempt, Retries
from app.idempotency.tables import IdempotentRequest
from app.idempotency.types import KeptResponse, Receipt, RetryKey
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.main import create_app
from app.settings import Settings
from app.tickets.tables import Ticket
from app.turns.types import NewTurn
from app.wiring.container import Container
from tests.app.openapi.story import events
from tests.app.serving import served

CHAT = {"message": "退货运费谁出"}
TICKET = {"subject": "热水器不出热水"}
KEY = RetryKey("t", "digest", "body", "a-key")


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Container]]:
    options: dict[str, Any] = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    app = create_app(Settings(data_dir=folder, api_key="the-first-admin-key", **options))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http,
    ):
        yield http, app.state.container


async def key_of(container: Container, role: Role, tenant: str = "default") -> dict[str, str]:
    key = create_key()
    await KeyRepository(container.base.database).create(tenant, role, "test", hash_key(key))
    container.keys._fresh_until = float("-inf")
    return {"Authorization": f"Bearer {key}"}


async def count(container: Container, table: Any) -> int:
    async with container.base.database.read() as connection:
        return len((await connection.execute(select(table.tenant_id))).all())


async def test_a_retry_returns_the_first_result_also_after_a_restart(tmp_path: Path) -> None:
    again = {"Idempotency-Key": str(uuid4())}
    async with running(tmp_path) as (http, container):
        client = await key_of(container, Role.CLIENT)
        first = await http.post("/api/v1/chat", json=CHAT, headers=client | again)
        both = await asyncio.gather(*(http.post("/api/v1/chat", json=CHAT, headers=client | again) for _ in range(3)))
        assert [response.json() for response in both] == [first.json()] * 3
        assert first.json()["session_token"].startswith("ys-")
        assert "idempotency-replayed" not in first.headers
        assert {response.headers["idempotency-replayed"] for response in both} == {"true"}
        assert await count(container, StoredTurn) == 1
        async with container.base.database.read() as connection:
            row = (await connection.execute(select(IdempotentRequest))).one()
        assert first.json()["session_token"].encode() not in row.body + row.sealed
    async with running(tmp_path) as (http, container):
        after = await http.post("/api/v1/chat", json=CHAT | {"client_id": again["Idempotency-Key"]}, headers=client)
        assert after.json() == first.json()
        assert await count(container, StoredTurn) == 1


async def test_requests_at_once_are_one(tmp_path: Path) -> None:
    again = {"Idempotency-Key": "order-17", "X-API-Key": "the-first-admin-key"}
    async with running(tmp_path) as (http, container):
        responses = await asyncio.gather(
            *(http.post("/api/v1/tickets", json=TICKET, headers=again) for _ in range(5)),
            *(http.post("/api/v1/chat", json=CHAT, headers=again) for _ in range(5)),
        )
        assert {response.status_code for response in responses} == {201, 200}
        assert len({response.text for response in responses}) == 2
        assert (await count(container, Ticket), await count(container, StoredTurn)) == (1, 1)


async def test_a_stream_is_told_again(tmp_path: Path) -> None:
    again = {"Idempotency-Key": str(uuid4())}
    async with running(tmp_path) as (http, container):
        client = await key_of(container, Role.CLIENT)
        first, second = await asyncio.gather(
            *(http.post("/api/v1/chat/stream", json=CHAT, headers=client | again) for _ in range(2))
        )
        done = [events(response.text)[-1] for response in (first, second)]
        assert done[0] == done[1]
        assert done[0][0] == "done" and done[0][1]["session_token"]
        told = [kind for kind, _ in events(second.text)]
        assert (told[0], told[-1]) == ("meta", "done")
        assert "".join(data["text"] for kind, data in events(second.text) if kind == "token") == done[0][1]["reply"]
        assert await count(container, StoredTurn) == 1
        other = await http.post("/api/v1/chat", json=CHAT, headers=client | again)
        assert other.json()["message_id"] != done[0][1]["message_id"]  # another endpoint, another request


async def test_a_stream_goes_on_when_its_client_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    again = {"Idempotency-Key": "m-1"}
    async with served(tmp_path) as server, httpx.AsyncClient(base_url=server.address, timeout=60) as http:
        free, append = asyncio.Event(), server.container.turn_log.append_turn

        async def held(turn: NewTurn) -> bool:
            await free.wait()
            return await append(turn)

        monkeypatch.setattr(server.container.turn_log, "append_turn", held)
        async with http.stream("POST", "/api/v1/chat/stream", json=CHAT, headers=again) as response:
            text = await anext(response.aiter_text())
        free.set()
        whole = await http.post("/api/v1/chat/stream", json=CHAT, headers=again)
        assert whole.headers["idempotency-replayed"] == "true"
        assert events(whole.text)[-1][1]["message_id"] == events(text)[0][1]["message_id"]
        assert await count(server.container, StoredTurn) == 1


async def test_an_upload_is_told_again_and_another_file_is_a_conflict(tmp_path: Path) -> None:
    again = {"Idempotency-Key": "upload-1", "X-API-Key": "the-first-admin-key"}

    def files(text: str) -> Any:
        return [("files", ("退货.md", f"# 退货\n\n{text}\n"))]

    async with running(tmp_path) as (http, _):
        path = "/api/v1/knowledge/documents"
        first = await http.post(path, files=files("运费由商家承担。"), headers=again)
        second = await http.post(path, files=files("运费由商家承担。"), headers=again)
        assert (first.status_code, first.json()) == (second.status_code, second.json())
        assert second.json()["files"][0]["outcome"] == "created"
        assert second.headers["location"] == first.headers["location"]
        other = await http.post(path, files=files("运费由顾客承担。"), headers=again)
        assert (other.status_code, other.json()["error"]["code"]) == (409, "idempotency_key_reused")
        labelled = await http.post(path, files=files("运费由商家承担。"), data={"category": "售后"}, headers=again)
        assert labelled.status_code == 409


async def test_an_upload_that_goes_on_is_told_again_as_it_began(tmp_path: Path) -> None:
    again = {"Idempotency-Key": "upload-1", "X-API-Key": "the-first-admin-key"}
    asked: Any = {"files": [("files", ("退货.md", "# 退货\n\n运费由商家承担。\n"))], "headers": again}
    async with running(tmp_path) as (http, container):
        path = "/api/v1/knowledge/documents"
        first = await http.post(path, params={"wait": 0}, **asked)
        assert (first.status_code, first.json()["files"][0]["outcome"]) == (202, None)
        await container.document_jobs.wait_until_finished("default", first.json()["job"]["id"], 60)
        second = await http.post(path, params={"wait": 60}, **asked)
        assert (second.status_code, second.content) == (202, first.content)
        job = (await http.get(second.headers["location"], headers=again)).json()
        assert job["files"][0]["outcome"] == "created"


async def test_the_same_key_of_somebody_else_is_another_request(tmp_path: Path) -> None:
    again = {"Idempotency-Key": str(uuid4())}
    async with running(tmp_path) as (http, container):
        keys = [
            await key_of(container, Role.CLIENT),
            await key_of(container, Role.CLIENT),
            await key_of(container, Role.SERVER),
            await key_of(container, Role.CLIENT, "other"),
        ]
        found = [(await http.post("/api/v1/chat", json=CHAT, headers=key | again)).json() for key in keys]
        assert len({body["message_id"] for body in found}) == 4
        shown = keys[0] | again | {"X-Session-Token": found[0]["session_token"]}
        with_proof = await http.post("/api/v1/chat", json=CHAT, headers=shown)
        assert with_proof.json()["message_id"] not in {body["message_id"] for body in found}


@pytest.mark.parametrize(
    ("role", "key", "body", "status", "code"),
    [
        (Role.CLIENT, "order-17", CHAT, 403, "idempotency_key_not_uuid"),
        (Role.SERVER, "order-17", CHAT, 200, ""),
        (Role.SERVER, "a b", CHAT, 400, "invalid_idempotency_key"),
        (Role.SERVER, "x" * 256, CHAT, 400, "invalid_idempotency_key"),
        (Role.SERVER, "a", CHAT | {"client_id": "b"}, 409, "idempotency_keys_differ"),
    ],
)
async def test_a_key_that_could_be_anybodys_is_refused(
    tmp_path: Path, role: Role, key: str, body: dict[str, str], status: int, code: str
) -> None:
    async with running(tmp_path) as (http, container):
        headers = await key_of(container, role) | {"Idempotency-Key": key}
        response = await http.post("/api/v1/chat", json=body, headers=headers)
        assert response.status_code == status
        assert response.json().get("error", {}).get("code", "") == code


async def test_a_failure_is_no_result_and_erasure_takes_results_along(tmp_path: Path) -> None:
    again = {"Idempotency-Key": "m-1", "X-API-Key": "the-first-admin-key"}
    async with running(tmp_path) as (http, container):
        body = CHAT | {"session_id": "s-1"}
        missing = await http.post("/api/v1/chat", json={"message": "", "session_id": "s-1"}, headers=again)
        assert missing.json()["outcome"] == "rejected"  # which is a result, though no turn is kept of it
        reused = await http.post("/api/v1/chat", json=body, headers=again)
        assert reused.status_code == 409
        own = again | {"Idempotency-Key": "m-2"}
        assert (await http.post("/api/v1/chat", json=body, headers=own)).status_code == 200
        assert await count(container, IdempotentRequest) == 2
        deleted = await http.delete("/api/v1/conversations/s-1", headers=own)
        assert deleted.status_code == 204
        assert (await count(container, IdempotentRequest), await count(container, Conversation)) == (0, 0)


@pytest.mark.parametrize("ended", [timedelta(seconds=-1), timedelta(days=1)], ids=["lease", "clock set back"])
async def test_an_attempt_that_failed_or_died_is_followed_by_another(database: Database, ended: timedelta) -> None:
    retries = Retries(database, wait=0.1, lease=timedelta(seconds=60))
    with pytest.raises(ZeroDivisionError):
        async with await begun(retries):
            raise ZeroDivisionError
    dead = await begun(retries)  # never entered: its process was killed
    with pytest.raises(Conflict) as waiting:
        await retries.begin(KEY)
    assert waiting.value.code == "request_in_progress"
    async with database.write() as connection:
        await connection.execute(update(IdempotentRequest).values(until=now() + ended))
    async with await begun(retries) as attempt:
        await attempt.finish(KeptResponse(200, b"{}", "ys-token", "s"))
    late = KeptResponse(200, b'{"late": 1}')
    await database.transact(
        lambda connection: settle(connection, [dead.build_receipt(late)])
    )  # of an attempt that lost its place
    with pytest.raises(Overloaded) as lost:
        await database.transact(partial(dead.write, reply=late))
    assert lost.value.code == "request_taken_over"
    assert await retries.begin(KEY) == KeptResponse(200, b"{}", "ys-token", written=True)


async def test_a_result_counts_for_a_day(database: Database) -> None:
    retries = Retries(database)
    async with await begun(retries) as attempt:
        await attempt.finish(KeptResponse(201, b"{}"))
    for hours, there in ((23, True), (25, False)):
        async with database.write() as connection:
            moment = now() - timedelta(hours=hours)
            await connection.execute(update(IdempotentRequest).values(created_at=moment))
        assert isinstance(await retries.begin(KEY), KeptResponse) == there


async def test_of_several_that_begin_at_once_one_runs(database: Database) -> None:
    retries = Retries(database, wait=0.1)
    found = await asyncio.gather(*(retries.begin(KEY) for _ in range(5)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in found) == ["Conflict"] * 4 + ["RequestAttempt"]


async def test_attempts_that_run_say_so_together(database: Database) -> None:
    retries = Retries(database, wait=0.1, lease=timedelta(seconds=1))
    keys = [RetryKey("t", f"digest-{number}", "body", "a-key") for number in range(3)]
    attempts = [await retries.begin(key) for key in keys]
    running, ended = attempts[:2], attempts[2]
    async with AsyncExitStack() as stack:
        for attempt in running:
            assert isinstance(attempt, RequestAttempt)
            await stack.enter_async_context(attempt)
        assert isinstance(ended, RequestAttempt)
        await asyncio.sleep(1.5)
        for key in keys[:2]:
            with pytest.raises(Conflict):
                await retries.begin(key)
        assert isinstance(await retries.begin(keys[2]), RequestAttempt)
    await retries.close()


async def test_a_turn_or_a_ticket_of_an_attempt_that_lost_its_place_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = {"X-API-Key": "the-first-admin-key", "Idempotency-Key": "m-1"}
    async with running(tmp_path) as (http, container):

        def elsewhere(attempt: RequestAttempt, reply: KeptResponse) -> Receipt:
            receipt = whole(attempt, reply)
            return replace(receipt, owner="another replica")

        whole = RequestAttempt.build_receipt
        monkeypatch.setattr(RequestAttempt, "build_receipt", elsewhere)
        for path, body in (("/api/v1/chat", CHAT), ("/api/v1/tickets", TICKET)):
            response = await http.post(path, json=body, headers=again)
            assert (response.status_code, response.json()["error"]["code"]) == (503, "request_taken_over")
        assert (await count(container, StoredTurn), await count(container, Ticket)) == (0, 0)


async def begun(retries: Retries) -> RequestAttempt:
    attempt = await retries.begin(KEY)
    assert isinstance(attempt, RequestAttempt)
    return attempt


def test_a_token_under_its_pad_is_not_the_token_and_comes_back_with_the_key_alone() -> None:
    token = b"ys-" + b"a" * 43
    hidden = apply_pad("key", "nonce", token)
    assert hidden != token
    assert apply_pad("key", "nonce", hidden) == token
    assert apply_pad("other", "nonce", hidden) != token
    assert apply_pad("key", "nonce", b"") == b""
    with pytest.raises(ValueError, match="longer"):
        apply_pad("key", "nonce", b"x" * 65)
