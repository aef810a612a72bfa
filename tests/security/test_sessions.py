"""Whose conversation it is: by HTTP and WebSocket, against a real process with keys of every role."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import jwt
import pytest

from agents.business.sample.database import seed_database
from app.auth.principal import Role
from app.auth.user_token import sign_token
from app.db.engine import Database
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.main import create_app
from app.settings import load_settings
from scripts.attacks import sessions
from scripts.attacks.sessions import begin_conversation, read_socket_code
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, COMPLETIONS, STREAM, Target, run_product
from tests.app.desk.client import talking

SECRET, OTHERS = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
ISSUER, AUDIENCE = "shop.example", "yingda"
MEMBER, STRANGER = "M0001", "M0003"
PAST = "UPDATE conversations SET token_expires = '2020-01-01 00:00:00.000000' WHERE session_id = ?"
CONVERSATIONS, DESK = "/api/v1/conversations", "/api/v1/agent/sessions"


@dataclass(frozen=True)
class Door:
    """The process, its SQL file, an order of MEMBER's, and what its model was asked."""

    target: Target
    file: Path
    order: str
    prompts: list[str] = field(default_factory=list)

    def sql(self, statement: str, *values: Any) -> None:
        with closing(sqlite3.connect(self.file, timeout=30)) as connection, connection:
            connection.execute(statement, values)

    async def key(self, role: Role) -> tuple[str, str]:
        """A new key and its id, once the server knows it."""
        database, key = Database(f"sqlite+aiosqlite:///{self.file}"), create_key()
        key_id = await KeyRepository(database).create("default", role, "test", hash_key(key))
        await database.close()
        await asyncio.sleep(0.7)
        return key, key_id

    async def revoke(self, key_id: str) -> None:
        """It counts within half a second."""
        database = Database(f"sqlite+aiosqlite:///{self.file}")
        assert await KeyRepository(database).revoke_key(key_id)
        await database.close()
        await asyncio.sleep(0.7)


@contextmanager
def listening(prompts: list[str]) -> Iterator[str]:
    """A model that keeps what it is asked, and never answers."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            prompts.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_error(400)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    folder = tmp_path_factory.mktemp("door")
    url = f"sqlite:///{folder / 'business.sqlite3'}"
    rows = asyncio.run(seed_database(url, date.today()))
    order = next(row["id"] for row in rows["orders"] if row["member_id"] == MEMBER)
    prompts: list[str] = []
    with listening(prompts) as model:
        settings: dict[str, Any] = {
            "BUSINESS_DATABASE_URL": url,
            "USER_TOKEN_SECRET": SECRET,
            "USER_TOKEN_SECRETS": json.dumps({"other": OTHERS}),
            "USER_TOKEN_ISSUER": ISSUER,
            "USER_TOKEN_AUDIENCE": AUDIENCE,
            "USER_TOKEN_MAX_HOURS": "1",
            "LLM_BASE_URL": model,
            "LLM_API_KEY": "x",
            "LLM_RETRIES": "0",
            "RATE_PER_ADDRESS": "0",
            "RATE_PER_SESSION": "0",
        }
        with run_product(folder / "data", **settings) as target:
            yield Door(target, folder / "data" / "yingda.sqlite3", order, prompts)


@pytest.fixture
async def browser(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    async with door.target.open_client(door.target.client) as http:
        yield http


@pytest.fixture
async def backend(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    async with door.target.open_client(door.target.server) as http:
        yield http


@pytest.fixture
async def staff(door: Door) -> AsyncIterator[httpx.AsyncClient]:
    async with door.target.open_client(door.target.agent) as http:
        yield http


def token(caller: str, seconds: float = 60, secret: str = SECRET, **named: str) -> str:
    return sign_token(secret, caller, seconds, time.time(), **({"issuer": ISSUER, "audience": AUDIENCE} | named))


def without_beginning() -> str:
    claims = {"sub": MEMBER, "exp": time.time() + 600, "iss": ISSUER, "aud": AUDIENCE}
    return jwt.encode(claims, SECRET, "HS256")


async def say(http: httpx.AsyncClient, session_id: str, text: str = "你好", **fields: str) -> httpx.Response:
    return await http.post(CHAT, json={"message": text, "session_id": session_id, **fields})


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_an_id_opens_nothing_over_any_route_or_socket(door: Door) -> None:
    report = await sessions.run_attack(door.target)
    assert (report.broken, report.cases > 250) == ([], True)


def test_every_way_to_name_a_session_is_attacked() -> None:
    """A socket that is new has to be attacked, too, and added here; routes are found by themselves."""
    assert sessions.list_socket_paths() == {"/api/v1/conversations/{session_id}/ws", "/api/v1/agent/ws"}
    found = {(call.method, call.path) for call in sessions.list_calls(create_app(load_settings()).openapi())}
    by_query, by_body = ("GET", "/api/v1/tickets"), ("POST", COMPLETIONS)
    assert {by_query, by_body, ("GET", f"{CONVERSATIONS}/{{session_id}}/history")} <= found


async def test_staff_of_another_tenant_hear_nothing_of_a_session(door: Door, browser: httpx.AsyncClient) -> None:
    begun = await begin_conversation(browser, sessions.SECRET_WORDS)
    headers = {"Authorization": f"Bearer {door.target.other_admin}"}
    async with talking(door.target.address, "/api/v1/agent/ws?agent_id=eve&after=0", additional_headers=headers) as eve:
        for kind in ("accept", "message", "resolve"):
            await eve.send(kind, session_id=begun.session_id, content="x")
        await eve.until(lambda frame: len(eve.of("error")) == 3)
        assert sessions.SECRET_WORDS not in json.dumps(eve.of("error"), ensure_ascii=False)
    assert (
        await read_socket_code(door.target, begun.session_id, {"Cookie": "yingda-signin=x", "Origin": "null"}) == 4403
    )


async def test_nor_does_another_member_or_a_proof_that_ran_out(door: Door, browser: httpx.AsyncClient) -> None:
    members, anonymous = await begin_conversation(browser, user_token=token(MEMBER)), await begin_conversation(browser)
    door.sql(PAST, anonymous.session_id)
    schema, report = create_app(load_settings()).openapi(), Report()
    for victim, how, headers in (
        (members, "another member's token", {"X-User-Token": token(STRANGER)}),
        (members, "a token that ran out", {"X-User-Token": token(MEMBER, -60)}),
        (anonymous, "a secret that ran out", {"X-Session-Token": anonymous.token}),
    ):
        await sessions.check_proof(door.target, browser, schema, victim, how, headers, report)
    assert (report.broken, report.cases > 60) == ([], True)


async def test_a_stream_and_the_openai_body_carry_the_secret_both_ways(browser: httpx.AsyncClient) -> None:
    told = (await browser.post(STREAM, json={"message": "你好", "session_id": "stream-1"})).text
    events = [json.loads(line[6:]) for line in told.splitlines() if line.startswith("data: ")]
    assert events[0]["type"] == "meta" and events[0]["session_token"] == events[-1]["session_token"]
    again = {"message": "你好", "session_id": "stream-1"}
    assert code(await browser.post(STREAM, json=again)) == (403, "session_token_required")
    shown = await browser.post(STREAM, json=again | {"session_token": events[0]["session_token"]})
    assert shown.status_code == 200 and "session_token" not in shown.text
    asked = {"model": "yingda", "messages": [{"role": "user", "content": "你好"}]}
    first = (await browser.post(COMPLETIONS, json=asked)).json()["yingda"]
    assert (await browser.post(COMPLETIONS, json=asked | {"yingda": first})).status_code == 200
    bare = {"yingda": {"session_id": first["session_id"]}}
    assert (await browser.post(COMPLETIONS, json=asked | bare)).status_code == 403


async def test_the_secret_is_stored_as_a_digest_and_runs_out(door: Door, browser: httpx.AsyncClient) -> None:
    begun = await begin_conversation(browser)
    for path in door.file.parent.glob("yingda.sqlite3*"):
        assert begun.token.encode() not in path.read_bytes()
    assert (await say(browser, begun.session_id, session_token=begun.token)).status_code == 200
    door.sql(PAST, begun.session_id)
    refused = await say(browser, begun.session_id, session_token=begun.token)
    assert code(refused) == (403, "session_token_expired")
    assert await read_socket_code(door.target, begun.session_id, {"X-Session-Token": begun.token}) == 4403
    door.sql("UPDATE conversations SET token = '', token_expires = NULL WHERE session_id = ?", begun.session_id)
    older = await say(browser, begun.session_id, session_token=begun.token)
    assert code(older) == (403, "session_forbidden")


async def test_a_members_session_is_the_members(
    door: Door, browser: httpx.AsyncClient, backend: httpx.AsyncClient
) -> None:
    mine, theirs = token(MEMBER), token(STRANGER)
    begun = await begin_conversation(browser, user_token=mine)
    assert (await say(browser, begun.session_id, user_token=mine)).status_code == 200
    for shown in ({"user_token": theirs}, {"user_token": theirs, "session_token": begun.token}):
        assert code(await say(browser, begun.session_id, **shown)) == (403, "session_of_another")
        headers = {f"X-{name.replace('_', '-')}": value for name, value in shown.items()}
        read = await browser.get(f"{CONVERSATIONS}/{begun.session_id}/messages", headers=headers)
        assert code(read) == (403, "session_of_another")
        assert await read_socket_code(door.target, begun.session_id, headers) == 4403
    assert code(await say(backend, begun.session_id, user_id=STRANGER)) == (403, "session_of_another")
    assert (await say(backend, begun.session_id, user_id=MEMBER)).status_code == 200
    assert (await say(browser, begun.session_id, user_token=token(MEMBER, -60))).status_code == 401


async def test_whoever_signs_in_takes_the_session_along_and_its_old_secret_is_void(browser: httpx.AsyncClient) -> None:
    begun = await begin_conversation(browser)
    stolen = await say(browser, begun.session_id, user_token=token(MEMBER))
    assert code(stolen) == (403, "session_forbidden")  # somebody's session does not become a member's by its id
    taken = await say(browser, begun.session_id, user_token=token(MEMBER), session_token=begun.token)
    fresh = taken.json()["session_token"]
    assert fresh != begun.token
    assert code(await say(browser, begun.session_id, session_token=begun.token)) == (403, "session_forbidden")
    assert (await say(browser, begun.session_id, session_token=fresh)).status_code == 200
    assert (await say(browser, begun.session_id, user_token=token(MEMBER))).status_code == 200
    theirs = await say(browser, begun.session_id, user_token=token(STRANGER), session_token=fresh)
    assert code(theirs) == (403, "session_of_another")


async def test_who_asks_for_a_person_first_gets_the_secret_and_staff_see_who_is_proved(
    browser: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    for name, shown, expected in (
        ("claimed", {"user_id": MEMBER}, (MEMBER, False)),
        ("proved", {"user_id": STRANGER, "user_token": token(MEMBER)}, (MEMBER, True)),
    ):
        asked = await browser.post(f"{CONVERSATIONS}/desk-{name}/handoff", json=shown)
        headers = {"X-Session-Token": asked.json()["session_token"]}
        path = f"{CONVERSATIONS}/desk-{name}/messages"
        assert code(await browser.get(path)) == (403, "session_token_required")
        assert (await browser.get(path, headers=headers)).json()["messages"]
        one = (await staff.get(f"{DESK}/desk-{name}")).json()
        waiting = (await staff.get(f"{DESK}/pending")).json()["sessions"]
        [listed] = [session for session in waiting if session["session_id"] == f"desk-{name}"]
        talks = (await staff.get(CONVERSATIONS)).json()["conversations"]
        [talk] = [item for item in talks if item["session_id"] == f"desk-{name}"]
        for seen in (one, listed, one["card"], talk):
            assert (seen["user_id"], seen["verified"]) == expected, (name, seen)
        ticket = (await staff.get("/api/v1/tickets", params={"session_id": f"desk-{name}"})).json()["tickets"][0]
        assert (ticket["user_id"], ticket["verified"]) == (MEMBER if expected[1] else "", expected[1])


async def test_what_staff_file_under_an_id_is_not_for_whoever_chooses_the_same(
    browser: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    filed = {"subject": "补发发票", "session_id": "filed-1", "user_id": MEMBER}
    made = (await staff.post("/api/v1/tickets", json=filed)).json()
    assert (made["user_id"], made["verified"]) == (MEMBER, False)
    assert (await say(browser, "filed-1", f"{made['number']} 怎么样了")).status_code == 403


async def test_no_row_reaches_a_model_or_anybody_else(door: Door, browser: httpx.AsyncClient) -> None:
    mine = token(MEMBER)
    first = (await say(browser, "rows-1", f"订单 {door.order} 到哪了", user_token=mine)).json()
    row = next(source for source in first["data"]["sources"] if source["index"] == "SQL")
    assert row["key"] or row["fields"]
    told = [door.order, first["reply"][:12]]
    stolen = await say(browser, "rows-1", "把我刚才的订单再说一遍")
    assert stolen.status_code == 403 and not any(piece in stolen.text for piece in told)
    for text in ("退货运费谁出", "那保修呢"):
        assert (await say(browser, "rows-1", text, user_token=mine)).status_code == 200
    assert any("退货运费谁出" in prompt for prompt in _said(door.prompts))  # the model did read the conversation
    assert [piece for piece in told if any(piece in prompt for prompt in _said(door.prompts))] == []
    signed_out = {"session_token": first["session_token"]}
    for text in ("那第一个呢", "它到哪了"):
        reply = (await say(browser, "rows-1", text, **signed_out)).text
        assert not any(piece in reply for piece in told)
    assert [piece for piece in told if any(piece in prompt for prompt in _said(door.prompts))] == []


@pytest.mark.parametrize("role", [Role.CLIENT, Role.AGENT])
async def test_a_revoked_key_loses_its_socket(door: Door, staff: httpx.AsyncClient, role: Role) -> None:
    key, key_id = await door.key(role)
    session = f"revoked-{role}"
    headers = {"Authorization": f"Bearer {key}"}
    path = f"{CONVERSATIONS}/{session}/ws?after=0" if role is Role.CLIENT else "/api/v1/agent/ws?agent_id=eve&after=0"
    async with talking(door.target.address, path, additional_headers=headers) as eve:
        if role is Role.CLIENT:
            await eve.send("handoff")
            await eve.until(lambda frame: frame["type"] == "session")
            await staff.post(f"{DESK}/{session}/accept", json={"agent_id": "amy"})
            await eve.until(lambda frame: frame["type"] == "handoff" and frame["state"] == "assigned")
        else:
            await staff.post(f"{CONVERSATIONS}/{session}/handoff", json={})
            await eve.until(lambda frame: session in json.dumps(frame))
        await door.revoke(key_id)
        if role is Role.CLIENT:  # what comes in is not told any more, though nothing was sent
            await staff.post(f"{DESK}/{session}/messages", json={"content": "身份证号 110101199003070015"})
        else:
            await eve.send("accept", session_id=session)
        async with asyncio.timeout(60):
            await eve.connection.wait_closed()
        assert eve.connection.close_code == 4401
        assert eve.of("error")[-1]["error"]["code"] == "unauthorized"
        assert "110101199003070015" not in json.dumps(eve.frames) and not eve.of("accepted")


async def test_a_socket_on_an_id_of_the_future_hears_nothing_of_whoever_takes_it(
    door: Door, browser: httpx.AsyncClient, staff: httpx.AsyncClient
) -> None:
    headers = {"Authorization": f"Bearer {door.target.client}"}
    async with talking(door.target.address, f"{CONVERSATIONS}/future-1/ws?after=0", additional_headers=headers) as eve:
        secret = (await say(browser, "future-1")).json()["session_token"]
        shown = {"X-Session-Token": secret}
        await browser.post(f"{CONVERSATIONS}/future-1/handoff", json={}, headers=shown)
        await staff.post(f"{DESK}/future-1/accept", json={"agent_id": "amy"})
        await staff.post(f"{DESK}/future-1/messages", json={"content": "只说给顾客听"})
        await eve.send("message", content="我刚才说了什么", id="1")
        refused = await eve.until(lambda frame: frame["type"] == "error")
        assert refused["error"]["code"] == "session_token_required"
        assert "只说给顾客听" not in json.dumps(eve.frames, ensure_ascii=False) and not eve.of("handoff")
        await eve.send("hello", session_token=secret)
        await eve.until(lambda frame: frame.get("content") == "只说给顾客听")


@pytest.mark.parametrize(
    ("made", "refused"),
    [
        (lambda: token(MEMBER), ""),
        (lambda: token(MEMBER, issuer="evil.example"), "iss"),
        (lambda: token(MEMBER, issuer=""), "iss"),
        (lambda: token(MEMBER, audience="elsewhere"), "aud"),
        (lambda: token(MEMBER, audience=""), "aud"),
        (lambda: token(MEMBER, 7200), "有效期太长"),
        (without_beginning, "iat"),
        (lambda: token(MEMBER, secret=OTHERS), "签名"),
    ],
    ids=["good", "issuer", "no-issuer", "audience", "no-audience", "long", "no-iat", "another-tenants"],
)
async def test_a_user_token_is_for_this_service_and_tenant_and_for_a_while(
    browser: httpx.AsyncClient, made: Callable[[], str], refused: str
) -> None:
    response = await browser.post(CHAT, json={"message": "你好", "user_token": made()})
    assert response.status_code == (401 if refused else 200)
    assert refused in response.text


async def test_a_tenant_with_a_secret_of_its_own_takes_no_other(door: Door) -> None:
    async with door.target.open_client(door.target.other_client) as http:
        for secret, status in ((OTHERS, 200), (SECRET, 401)):
            shown = {"message": "你好", "user_token": token(MEMBER, secret=secret)}
            assert (await http.post(CHAT, json=shown)).status_code == status


def _said(prompts: list[str]) -> list[str]:
    return [json.dumps(json.loads(prompt), ensure_ascii=False) for prompt in prompts]
