"""Somebody else's conversation: by its id alone, with another's proof, over every route and socket that takes one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from app.auth.cookies import SESSION
from app.features import load_routers
from app.http.routes import list_sockets
from app.main import create_app
from app.settings import load_settings
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

REFUSED = frozenset({401, 403, 404})
RACERS = 8
SECRET_WORDS = "我住在幸福路 12 号"
_SESSION = "{session_id}"
# Seconds after which a server takes requests of one sender again.
_PATIENCE = 60
_HEADER = "X-Session-Token"
_HISTORY = "/api/v1/conversations/{session_id}/history"
_MESSAGES = "/api/v1/conversations/{session_id}/messages"


@dataclass(frozen=True, slots=True)
class Call:
    """A way to reach a conversation: method, path with `{session_id}`, and the body that it needs. asks: the session is
    named in the address, behind the path.
    """

    method: str
    path: str
    body: dict[str, Any] | None = None
    asks: bool = False

    async def send(self, http: httpx.AsyncClient, victim: Begun, headers: Mapping[str, str]) -> httpx.Response:
        """The response to it; what comes too fast for the server is sent again when it says so."""
        path = self.path.replace(_SESSION, victim.session_id).replace("{message_id}", victim.message_id)
        body = self.body
        if body is not None and _SESSION not in self.path:
            body = body | {"session_id": victim.session_id}
        query = {"session_id": victim.session_id} if self.asks else {}
        while True:
            response = await http.request(self.method, path, params=query, json=body, headers=headers)
            wait = int(response.headers.get("retry-after", 0)) if response.status_code == 429 else 0
            if not 0 < wait <= _PATIENCE:
                return response
            await asyncio.sleep(wait)


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation that a browser began; `token` is its secret."""

    session_id: str
    token: str
    message_id: str


def list_calls(schema: dict[str, Any]) -> list[Call]:
    """Every operation of an OpenAPI document that takes a session id in its path, its query or its body."""
    return [
        Call(method.upper(), path, _build_body(schema, operation), _is_in_query(operation))
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        if _SESSION in path or _is_in_query(operation) or "session_id" in _get_properties(schema, operation)
    ]


def list_socket_paths() -> set[str]:
    """The paths of all WebSockets."""
    return {path for router in load_routers() for path in list_sockets(router)}


async def begin_conversation(http: httpx.AsyncClient, text: str = "你好", **fields: str) -> Begun:
    """Begins a conversation with a `client` key."""
    response = await http.post(CHAT, json={"message": text, "session_id": f"s-{uuid4().hex}", **fields})
    body = response.json()
    return Begun(body["session_id"], body.get("session_token", ""), body["message_id"])


async def run_attack(target: Target) -> Report:
    """Tries every way into a conversation of somebody else."""
    report = Report()
    async with target.open_client(target.client) as http, target.open_client(target.other_client) as other:
        victim, stranger = await begin_conversation(http, SECRET_WORDS), await begin_conversation(http)
        report.check(bool(victim.token), "no secret was issued with the first turn")
        schema = create_app(load_settings()).openapi()  # the server need not show its own
        async with target.open_client(target.admin) as staff:
            await staff.post(f"/api/v1/conversations/{victim.session_id}/handoff", json={})
            before = await _collect_kept(staff, victim)
            report.check(SECRET_WORDS in str(before), "nothing was kept that could be stolen")
            for how, headers in _generate_proofs(victim, stranger):
                await check_proof(target, http, schema, victim, how, headers, report)
            async with target.open_client() as nobody, target.open_client(target.other_admin) as others_staff:
                for call in list_calls(schema):
                    status = (
                        await call.send(nobody, victim, _build_cookie(victim.session_id, victim.token))
                    ).status_code
                    report.check(status == 401, f"{call.method} {call.path} without a key: {status}")
                    for foreign in (other, others_staff):
                        told = await call.send(foreign, victim, {_HEADER: victim.token})
                        report.check(SECRET_WORDS not in told.text, f"{call.method} {call.path} by another tenant")
            after = await _collect_kept(staff, victim)
            for name, value in before.items():
                report.check(after[name] == value, f"{name} is {after[name]} and was {value}")
        await _check_race(http, report)
        cookie = _build_cookie(victim.session_id, victim.token)
        own = await Call("GET", _HISTORY).send(http, victim, cookie)
        report.check(SECRET_WORDS in own.text, f"the customer's own cookie: {own.status_code}")
        opened = await Call("GET", _MESSAGES).send(http, victim, {_HEADER: victim.token})
        report.check(opened.status_code == 200, f"the customer's own secret: {opened.status_code}")
    return report


async def check_proof(
    target: Target,
    http: httpx.AsyncClient,
    schema: dict[str, Any],
    victim: Begun,
    how: str,
    headers: Mapping[str, str],
    report: Report,
) -> None:
    """Every route and the socket, for a conversation that these headers are no right to."""
    for call in list_calls(schema):
        status = (await call.send(http, victim, headers)).status_code
        report.check(status in REFUSED, f"{call.method} {call.path} with {how}: {status}")
    code = await read_socket_code(target, victim.session_id, headers)
    report.check(code in (4401, 4403), f"socket with {how}: {code}")


async def read_socket_code(target: Target, session_id: str, headers: Mapping[str, str]) -> int:
    """The code with which the customer's socket is closed; 0 where it stays open."""
    shown = {"Authorization": f"Bearer {target.client}", **headers}
    address = target.address.replace("http", "ws", 1) + f"/api/v1/conversations/{session_id}/ws?after=0"
    async with connect(address, additional_headers=shown, proxy=None) as socket:
        try:
            async with asyncio.timeout(5):
                await socket.send(json.dumps({"type": "ping"}))
                while json.loads(await socket.recv())["type"] == "error":
                    pass
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else -1
        except TimeoutError:
            pass
    return 0


def _generate_proofs(victim: Begun, stranger: Begun) -> Iterator[tuple[str, dict[str, str]]]:
    yield "no proof", {}
    yield "a foreign secret", {_HEADER: stranger.token}
    yield "a made-up secret", {_HEADER: "ys-" + "0" * 43}
    yield "a foreign cookie", _build_cookie(stranger.session_id, stranger.token)
    yield "a foreign secret in a cookie of the session", _build_cookie(victim.session_id, stranger.token)
    stolen = _build_cookie(victim.session_id, victim.token)
    yield "the customer's cookie, by a page of another site", stolen | {"Sec-Fetch-Site": "cross-site"}


def _build_cookie(session_id: str, token: str) -> dict[str, str]:
    return {"Cookie": f"{SESSION.name}={session_id}.{token}", "Sec-Fetch-Site": "same-origin"}


async def _collect_kept(staff: httpx.AsyncClient, victim: Begun) -> dict[str, Any]:
    """Everything that staff can read of a conversation."""
    whole = await staff.get(f"/api/v1/conversations/{victim.session_id}")
    desk = await staff.get(f"/api/v1/agent/sessions/{victim.session_id}")
    tickets = await staff.get("/api/v1/tickets", params={"session_id": victim.session_id})
    found: dict[str, Any] = whole.json() | desk.json()
    return found | {"tickets": [(ticket["number"], ticket["version"]) for ticket in tickets.json()["tickets"]]}


async def _check_race(http: httpx.AsyncClient, report: Report) -> None:
    """Of several first turns on one id at once, one begins the session; the others are told that it is not theirs."""
    session_id = f"race-{uuid4().hex}"
    body = {"message": "你好", "session_id": session_id}
    answers = await asyncio.gather(*(http.post(CHAT, json=body) for _ in range(RACERS)))
    won = [answer for answer in answers if answer.status_code == 200]
    report.check(len(won) == 1 and "session_token" in won[0].json(), f"{len(won)} of {RACERS} began one session")
    report.check(all(answer.status_code == 403 for answer in answers if answer not in won), "a loser was not told so")


def _get_properties(schema: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = content.get("schema", {}).get("$ref", "")
    found: dict[str, Any] = schema["components"]["schemas"].get(reference.rpartition("/")[2], {})
    properties: dict[str, Any] = found.get("properties", {})
    return properties


def _is_in_query(operation: dict[str, Any]) -> bool:
    places = {place.get("name"): place.get("in") for place in operation.get("parameters", [])}
    return places.get("session_id") == "query"


def _build_body(schema: dict[str, Any], operation: dict[str, Any]) -> dict[str, Any] | None:
    """A valid body for an operation, so that only the proof is at fault; None where it takes none."""
    if "requestBody" not in operation:
        return None
    known = {
        "message": "我刚才说了什么",
        "model": "yingda",
        "messages": [{"role": "user", "content": "我刚才说了什么"}],
        "rating": "up",
        "content": "x",
        "agent_id": "eve",
        "subject": "x",
    }
    properties = _get_properties(schema, operation)
    return {name: value for name, value in known.items() if name in properties}
