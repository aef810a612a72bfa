"""Cookies of the server's own pages: what they hold, and which requests they count for."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from loguru import logger
from starlette.requests import Request
from starlette.responses import Response
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.auth.cookies import SESSION, from_own_page
from app.auth.cookies import SIGN_IN as COOKIE
from app.auth.principal import Role
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from tests.app.serving import Served, served

ADMIN, SHOP = "the-first-admin-key", "https://shop.example.com"
SESSIONS, SIGN_IN, CHAT, LIST = "/api/v1/sessions", "/api/v1/signin", "/api/v1/chat", "/api/v1/conversations"
OWN = {"Sec-Fetch-Site": "same-origin"}
# What pages of others say of where they are, and what is no page.
OTHERS: tuple[dict[str, str], ...] = (
    {},
    {"Origin": SHOP},
    {"Origin": "null"},
    {"Referer": f"{SHOP}/cart"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "none"},
)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, api_key=ADMIN, sign_in_failures=3) as running:
        yield running


@pytest.fixture
async def page(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, headers=OWN, timeout=60) as browser:
        yield browser


async def a_key(server: Served, role: Role) -> tuple[str, str]:
    key = create_key()
    keys = KeyRepository(server.container.base.database)
    key_id = await keys.create("default", role, f"{role} 1", hash_key(key))
    server.container.keys._fresh_until = float("-inf")
    return key, key_id


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def frames(server: Served, path: str, headers: dict[str, str], **sent: str) -> str:
    """What a socket says until it is closed, or has answered a ping."""
    told = ""
    async with connect(server.address.replace("http", "ws", 1) + path, additional_headers=headers) as socket:
        try:
            await socket.send(json.dumps({"type": "ping"} | sent))
            while '"pong"' not in told:
                told += str(await socket.recv())
        except ConnectionClosed:
            pass
    return told


def asking(headers: dict[str, str], scheme: str = "http") -> Request:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    server = ("shop.example.com", 443 if scheme == "https" else 80)
    return Request({"type": "http", "scheme": scheme, "path": "/", "headers": raw, "server": server})


async def test_a_session_in_a_cookie_opens_every_route_for_own_pages_alone(
    server: Served, page: httpx.AsyncClient
) -> None:
    key, _ = await a_key(server, Role.CLIENT)
    page.headers["X-API-Key"] = key
    assert (await page.get(SESSIONS)).json() == {"session_id": None, "expires_at": None}
    opened = await page.post(SESSIONS, json={"cookie": True})
    session = opened.json()["session_id"]
    assert (opened.status_code, opened.json()["session_token"]) == (201, "")
    kept = opened.headers["set-cookie"]
    assert kept.startswith(f"{SESSION.name}={session}.ys-") and "Secure" not in kept
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(kept.split("; "))
    assert int(kept.partition("Max-Age=")[2].partition(";")[0]) > 6 * 24 * 3600

    said = await page.post(CHAT, json={"message": "你好", "session_id": session})
    assert said.status_code == 200 and "session_token" not in said.json()
    streamed = await page.post(f"{CHAT}/stream", json={"message": "在吗", "session_id": session})
    lost = {"message": "在吗", "session_id": session, "client_id": "message-2"}
    first, again = [await page.post(f"{CHAT}/stream", json=lost) for _ in range(2)]
    assert again.headers["idempotency-replayed"] == "true"
    done, told = [json.loads(stream.text.rpartition("data: ")[2]) for stream in (first, again)]
    assert done["type"] == "done" and done == told
    asked = {"model": "yingda", "messages": [{"role": "user", "content": "你好"}], "session_id": session}
    assert (streamed.status_code, (await page.post("/v1/chat/completions", json=asked)).status_code) == (200, 200)
    turn = f"{LIST}/{session}/messages/{said.json()['message_id']}/feedback"
    assert (await page.put(turn, json={"rating": "up"})).status_code == 204
    assert (await page.post(f"{CHAT}/{session}/stop")).status_code == 200
    reloaded = await page.get(SESSIONS)
    assert reloaded.json()["session_id"] == session and f"{session}.ys-" in reloaded.headers["set-cookie"]
    socket, cookies = f"{LIST}/{session}/ws?after=0", f"{SESSION.name}={page.cookies[SESSION.name]}"
    own = {"X-API-Key": key, "Cookie": cookies, "Origin": server.address}
    assert '"pong"' in await frames(server, socket, own)

    del page.headers["Sec-Fetch-Site"]
    for who in OTHERS:
        for method, path in (("GET", f"{LIST}/{session}/handoff"), ("DELETE", f"{LIST}/{session}/handoff")):
            assert code(await page.request(method, path, headers=who)) == (403, "session_token_required"), who
        shown = await page.post(CHAT, json={"message": "你好", "session_id": session}, headers=who)
        assert code(shown) == (403, "session_token_required"), who
        assert (await page.post(SESSIONS, json={"cookie": True}, headers=who)).status_code == 403
        assert (await page.get(SESSIONS, headers=who)).json()["session_id"] is None
        told = await frames(server, socket, own | {"Origin": SHOP} | who)
        assert "session_token_required" in told and '"pong"' not in told, who

    page.headers["Origin"] = server.address
    newer = (await page.post(SESSIONS, json={"cookie": True})).json()["session_id"]
    assert code(await page.get(f"{LIST}/{session}/handoff")) == (403, "session_token_required")
    assert (await page.get(f"{LIST}/{newer}/handoff")).status_code == 200


async def test_who_signs_in_is_known_by_the_cookie_until_the_key_is_revoked(
    server: Served, page: httpx.AsyncClient
) -> None:
    key, key_id = await a_key(server, Role.AGENT)
    lines: list[str] = []
    sink = logger.add(lines.append, level="TRACE", format="{message} {extra} {exception}")
    assert (await page.get(SIGN_IN)).json()["signed_in"] is False
    assert (await page.get(LIST)).status_code == 401
    signed = await page.post(SIGN_IN, json={"key": key})
    known = {"signed_in": True, "keyless": False, "roles": ["agent"], "tenant": "default"}
    known |= {"key_id": key_id, "key_name": "agent 1", "agent_id": "", "by_provider": False}
    assert (signed.status_code, signed.json()) == (200, known)
    kept = set(signed.headers["set-cookie"].split("; "))
    secret = page.cookies[COOKIE.name]
    assert {f"{COOKIE.name}={secret}", "HttpOnly", "Path=/api", "SameSite=strict"} == kept  # as long as it runs
    assert key not in secret
    assert (await page.get(SIGN_IN)).json() == known
    assert (await page.get(LIST)).status_code == 200
    assert (await page.get("/api/v1/agent/sessions/pending")).status_code == 200
    cookie = {"Cookie": f"{COOKIE.name}={secret}", "Origin": server.address}
    assert '"pong"' in await frames(server, "/api/v1/agent/ws?agent_id=amy&after=0", cookie)

    for who in OTHERS:
        own = httpx.Headers({"Cookie": f"{COOKIE.name}={secret}"} | who)
        async with httpx.AsyncClient(base_url=server.address, headers=own) as other:
            refused = [await other.get(LIST), await other.post("/api/v1/tickets", json={"subject": "x"})]
            refused += [await other.delete(f"{LIST}/some"), await other.post(CHAT, json={"message": "你好"})]
            assert {response.status_code for response in refused} == {401}, who
            assert code(await other.post(SIGN_IN, json={"key": key})) == (403, "foreign_page")
            assert code(await other.delete(SIGN_IN)) == (403, "foreign_page")
        told = await frames(server, "/api/v1/agent/ws?agent_id=amy", cookie | {"Origin": SHOP} | who, key="")
        assert "unauthorized" in told and '"pong"' not in told, who

    given = await page.get(LIST, headers={"X-API-Key": (await a_key(server, Role.CLIENT))[0]})
    assert given.status_code == 403  # a key that is shown counts, and not the cookie
    assert await KeyRepository(server.container.base.database).revoke_key(key_id)
    server.container.keys._fresh_until = float("-inf")
    assert (await page.get(LIST)).status_code == 401
    gone = await page.get(SIGN_IN)
    assert gone.json()["signed_in"] is False and COOKIE.name not in page.cookies
    logger.remove(sink)
    assert lines and key not in "".join(lines) and secret not in "".join(lines)


async def test_only_staff_sign_in_and_guesses_are_counted(server: Served, page: httpx.AsyncClient) -> None:
    for role in (Role.CLIENT, Role.SERVER, Role.METRICS):
        refused = await page.post(SIGN_IN, json={"key": (await a_key(server, role))[0]})
        assert code(refused) == (403, "not_staff") and "set-cookie" not in refused.headers
    guesses = [await page.post(SIGN_IN, json={"key": f"guess-{number}"}) for number in range(5)]
    assert [guess.status_code for guess in guesses] == [401, 401, 401, 429, 429]
    assert int(guesses[-1].headers["retry-after"]) > 0
    right = await page.post(SIGN_IN, json={"key": ADMIN})
    assert (right.status_code, right.json()["key_name"]) == (200, "API_KEY")
    taken = {"Cookie": f"{COOKIE.name}={page.cookies[COOKIE.name]}"}
    assert (await page.get(LIST, headers=taken)).status_code == 200
    assert (await page.delete(SIGN_IN)).status_code == 204
    assert (await page.get(LIST)).status_code == 401
    assert (await page.get(LIST, headers=taken)).status_code == 429  # a copy of the cookie is a wrong secret by now


async def test_without_keys_this_machine_is_signed_in(tmp_path: Path) -> None:
    async with served(tmp_path) as server, httpx.AsyncClient(base_url=server.address, headers=OWN) as page:
        known = (await page.get(SIGN_IN)).json()
        assert known["signed_in"] and known["keyless"] and set(known["roles"]) == set(Role)
        signed = await page.post(SIGN_IN, json={"key": "whatever"})
        assert signed.json() == known and "set-cookie" not in signed.headers
        opened = await page.post(SESSIONS, json={"cookie": True})
        assert (await page.get(SESSIONS)).json()["session_id"] == opened.json()["session_id"]


@pytest.mark.parametrize(
    "request_",
    [
        asking({"Host": "shop.example.com", "Sec-Fetch-Site": "same-origin"}, "https"),
        asking({"Host": "shop.example.com", "Origin": "https://shop.example.com"}),
        asking({"Host": "shop.example.com", "Referer": "https://shop.example.com/desk"}),
    ],
)
def test_over_https_a_cookie_is_secure_and_no_other_name_counts(request_: Request) -> None:
    """Also where a proxy ends TLS and says nothing of it: then the page's address does."""
    for cookie, name in ((SESSION, "__Host-yingda-session"), (COOKIE, "__Secure-yingda-signin")):
        response = Response()
        cookie.keep(response, request_, "a b;ü")
        kept = response.headers["set-cookie"]
        assert kept.startswith(f"{name}=a%20b%3B%C3%BC;") and "Secure" in kept.split("; ")
        told = dict(request_.headers)
        assert cookie.read_value(asking(told | {"Cookie": f"{name}=a%20b%3B%C3%BC"}, request_.url.scheme)) == "a b;ü"
        assert cookie.read_value(asking(told | {"Cookie": f"{cookie.name}=planted"}, request_.url.scheme)) == ""


def test_a_page_is_told_by_its_address_where_browsers_say_no_more() -> None:
    lan = {"host": "192.168.1.5:8000"}
    assert from_own_page(lan | {"referer": "http://192.168.1.5:8000/desk"})
    assert from_own_page(lan | {"origin": "http://192.168.1.5:8000"})
    for foreign in ("http://192.168.1.5:9000/", "http://192.168.1.5:8000@evil.example/", "//192.168.1.5:8000[", ""):
        assert not from_own_page(lan | {"referer": foreign})
    assert not from_own_page(lan | {"sec-fetch-site": "cross-site", "origin": "http://192.168.1.5:8000"})
    assert not from_own_page({"referer": ""})
