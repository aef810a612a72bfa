from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from pydantic import SecretStr
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.desk import socket as desk_socket
from app.http import sockets
from app.types import SessionKey
from tests.app.desk.client import Talker, talking
from tests.app.serving import Served, served

CUSTOMER, STAFF = "/api/v1/conversations/{}/ws", "/api/v1/agent/ws"
KEY = "yd-0123456789abcdef"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, _env_file=None) as running:
        await running.container.startup.ready.wait()
        yield running


@pytest.fixture
async def http(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        yield client


async def post(http: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    response = await http.post(path, json=body)
    assert response.status_code in (200, 201), response.text
    made: dict[str, Any] = response.json()
    return made


def said(talker: Talker) -> list[tuple[int, str]]:
    return [(frame["seq"], frame["content"]) for frame in talker.of("message") if frame["sender"] != "system"]


async def test_a_conversation_over_sockets_from_the_bot_to_a_person_and_back(server: Served) -> None:
    async with (
        talking(server.address, CUSTOMER.format("s") + "?after=0") as customer,
        talking(server.address, STAFF + "?agent_id=amy&after=0") as staff,
    ):
        await customer.send("message", content="你好", id="1")
        assert (await customer.until(lambda frame: frame["type"] == "done"))["outcome"] == "answered"
        await customer.send("message", content="转人工", id="2")
        done = await customer.until(lambda frame: frame["type"] == "done" and frame.get("id") == "2")
        assert done["data"]["handoff"]["state"] == "queued"
        await staff.until(lambda frame: frame["type"] == "queue" and bool(frame["sessions"]))
        await staff.send("accept", session_id="s", id="a")
        await staff.until(lambda frame: frame["type"] == "accepted")
        await customer.until(lambda frame: frame["type"] == "handoff" and frame["state"] == "assigned")
        await staff.send("message", session_id="s", content="您好，我是小艾", id="b")
        await customer.until(lambda frame: frame.get("content") == "您好，我是小艾")
        await customer.send("message", content="我的耳机坏了", id="3")
        await staff.until(lambda frame: frame.get("content") == "我的耳机坏了")
        await staff.send("message", session_id="s", content="马上为您换新", id="c")
        await customer.send("message", content="谢谢", id="4")
        await staff.until(lambda frame: frame.get("content") == "谢谢")
        await staff.send("resolve", session_id="s", note="换新")
        await customer.until(lambda frame: frame["type"] == "handoff" and frame["state"] == "resolved")
        await customer.send("message", content="你好", id="5")
        back = await customer.until(lambda frame: frame["type"] == "done" and frame.get("id") == "5")
        assert back["outcome"] == "answered"
        await staff.until(lambda frame: frame["type"] == "session" and frame["state"] in ("resolved", "bot"))
        await asyncio.sleep(0.2)
        sequence = [frame["seq"] for frame in customer.of("message")]
        assert sequence == list(range(1, len(sequence) + 1))
        assert [frame["seq"] for frame in staff.of("message")] == sequence
        assert sorted(text for _, text in said(customer)) == sorted(
            ["您好，我是小艾", "我的耳机坏了", "马上为您换新", "谢谢"]
        )


async def test_whoever_comes_back_goes_on_after_the_last_number(server: Served, http: httpx.AsyncClient) -> None:
    await post(http, "/api/v1/conversations/s/handoff")
    await post(http, "/api/v1/agent/sessions/s/accept", agent_id="amy")
    seen = 0
    for round_ in range(4):
        async with (
            talking(server.address, CUSTOMER.format("s") + f"?after={seen}") as customer,
            talking(server.address, STAFF) as staff,
        ):
            await staff.send("hello", agent_id="amy", after={"s": seen})
            for number in range(3):
                await post(http, "/api/v1/agent/sessions/s/messages", content=f"{round_}-{number}")
            last = f"{round_}-2"
            for talker in (customer, staff):
                await talker.until(lambda frame, last=last: frame.get("content") == last)  # type: ignore[misc]
                sequence = [frame["seq"] for frame in talker.of("message")]
                assert sequence == list(range(seen + 1, seen + len(sequence) + 1))
            seen = customer.of("message")[-1]["seq"]
        await post(http, "/api/v1/agent/sessions/s/messages", content=f"{round_}-while away")


async def test_a_message_that_was_sent_before_the_line_broke_is_kept_once(
    server: Served, http: httpx.AsyncClient
) -> None:
    await post(http, "/api/v1/conversations/s/handoff")
    await post(http, "/api/v1/agent/sessions/s/accept", agent_id="amy")
    for kind in ("done", "received"):
        async with talking(server.address, CUSTOMER.format("s") + "?after=0") as customer:
            await customer.send("message", content="只说一次", id="m1")
            await customer.until(lambda frame, kind=kind: frame["type"] == kind and frame["id"] == "m1")  # type: ignore[misc]
    for _ in range(2):
        async with talking(server.address, STAFF + "?agent_id=amy&after=0") as staff:
            await staff.send("message", session_id="s", content="也只说一次", id="m1")
            await staff.until(lambda frame: frame["type"] == "sent")
    messages = (await http.get("/api/v1/agent/sessions/s/messages")).json()["messages"]
    assert [item["content"] for item in messages if item["sender"] != "system"] == ["只说一次", "也只说一次"]


async def test_frames_that_mean_nothing_are_answered_and_the_line_goes_on(server: Served) -> None:
    async with talking(server.address, CUSTOMER.format("s") + "?after=0") as customer:
        await customer.connection.send("no json")
        await customer.connection.send("[1]")
        await customer.send("dance", id="x")
        await customer.send("leave")
        await customer.send("ping")
        await customer.until(lambda frame: frame["type"] == "pong")
        assert [frame["error"]["code"] for frame in customer.of("error")] == [
            "invalid_frame", "invalid_frame", "invalid_frame", "desk_session_not_found",
        ]  # fmt: skip
        assert customer.connection.response is not None
        request_id = customer.connection.response.headers["X-Request-ID"]
        assert request_id and {frame["error"]["request_id"] for frame in customer.of("error")} == {request_id}
    async with talking(server.address, STAFF + "?agent_id=amy&after=0") as staff:
        await staff.send("message", session_id="s", content="")
        await staff.send("accept", session_id="s", id="y")
        await staff.until(lambda frame: frame.get("id") == "y")
        assert [frame["error"]["code"] for frame in staff.of("error")] == ["invalid_frame", "desk_session_not_found"]


async def test_whoever_is_away_stays_on_the_line_and_is_not_on_duty(
    server: Served, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_socket, "PING_SECONDS", 0.05)

    async def seen() -> str | None:
        [member] = (await http.get("/api/v1/agent/staff")).json()["staff"]
        last: str | None = member["last_seen"]
        return last

    async with talking(server.address, STAFF + "?agent_id=amy&after=0") as staff:
        await staff.until(lambda frame: frame["type"] == "queue")
        await staff.until(lambda frame: frame["type"] == "ping")  # the queue may come before the duty is noted
        assert await seen()
        await staff.send("presence", online=False, id="p")
        assert (await staff.until(lambda frame: frame["type"] == "presence"))["online"] is False
        known = len(staff.of("ping"))
        await staff.until(lambda _: len(staff.of("ping")) > known + 2)
        assert await seen() is None
        await staff.send("presence", online=True)
        await staff.until(lambda frame: frame["type"] == "presence" and frame["online"] is True)
        assert await seen()
    async with talking(server.address, STAFF) as staff:
        await http.post("/api/v1/agent/staff/amy/presence", json={"online": False})
        await staff.send("hello", agent_id="amy", online=False)
        await staff.until(lambda frame: frame["type"] == "ping")
        assert await seen() is None


async def test_what_sql_does_not_take_costs_nobody_the_line(server: Served) -> None:
    async with talking(server.address, CUSTOMER.format("s") + "?after=0") as customer:
        await customer.connection.send('{"type": "hello", "after": 1e99, "user_id": "a\\u0000"}')
        await customer.connection.send("[" * 50_000)
        await customer.connection.send('{"type": "message", "id": "x\\ud800", "content": "退货\\u0000运费谁出"}')
        await customer.until(lambda frame: frame["type"] == "done" and frame["id"] == "x")
    async with talking(server.address, STAFF + "?agent_id=amy%00") as staff:
        await staff.send("hello", after={"s": 10**30})
        await staff.connection.send('{"type": "resolve", "session_id": "s\\ud800", "note": "\\ud800", "id": "y"}')
        await staff.until(lambda frame: frame.get("id") == "y")
        assert [frame["error"]["code"] for frame in staff.of("error")] == ["desk_session_not_found"]


async def test_a_key_comes_by_header_by_subprotocol_or_in_the_first_frame(tmp_path: Path) -> None:
    async with served(tmp_path, _env_file=None, api_key=SecretStr(KEY)) as server:
        ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
            ({"additional_headers": {"Authorization": f"Bearer {KEY}"}}, {}),
            ({"additional_headers": {"X-API-Key": KEY}}, {}),
            ({"subprotocols": ["yingda", f"key.{KEY}"]}, {}),
            ({}, {"key": KEY}),
        ]
        for options, hello in ways:
            async with talking(server.address, STAFF, **options) as staff:
                await staff.send("hello", agent_id="amy", **hello)
                await staff.until(lambda frame: frame["type"] == "queue")
        for hello in ({"key": "wrong"}, {}):
            async with talking(server.address, STAFF) as staff:
                await staff.send("hello", agent_id="amy", **hello)
                refused = await staff.until(lambda frame: frame["type"] == "error")
                assert refused["error"]["code"] == "unauthorized"
                await staff.connection.wait_closed()
                assert staff.connection.close_code == sockets.UNAUTHORIZED


async def test_a_customer_is_who_the_signed_token_says(tmp_path: Path) -> None:
    secret = "0123456789abcdef0123456789abcdef"

    def token(member: str, seconds: float) -> str:
        return jwt.encode({"sub": member, "exp": time.time() + seconds}, secret, "HS256")

    async with served(tmp_path, _env_file=None, user_token_secret=SecretStr(secret), api_key=SecretStr(KEY)) as server:
        path = CUSTOMER.format("s")
        async with talking(server.address, path) as customer:
            await customer.send("hello", key=KEY, user_token=token("M001", 60))
            await customer.send("message", content="转人工", id="1")
            await customer.until(lambda frame: frame["type"] == "done")
        session = await server.container.desk.sessions.find(SessionKey("default", "s"))
        assert session is not None and (session.caller, session.user_id) == ("M001", "M001")
        async with talking(server.address, path) as stranger:
            await stranger.send("hello", key=KEY, user_token=token("M001", -60))
            assert (await stranger.until(lambda frame: frame["type"] == "error"))["error"]["code"]
            await stranger.connection.wait_closed()
            assert stranger.connection.close_code == sockets.UNAUTHORIZED


async def test_a_page_of_another_site_cannot_use_the_open_door_of_this_machine(server: Served) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        async with talking(server.address, STAFF + "?agent_id=amy&after=0", origin="https://evil.example"):
            pass
    async with talking(server.address, STAFF + "?agent_id=amy&after=0", origin=server.address) as staff:
        await staff.until(lambda frame: frame["type"] == "queue")


@pytest.mark.acceptance(only=True)
async def test_a_client_that_does_not_read_is_cut_and_resumes(
    server: Served, http: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "SEND_SECONDS", 0.5)
    await post(http, "/api/v1/conversations/s/handoff")
    await post(http, "/api/v1/agent/sessions/s/accept", agent_id="amy")
    address = server.address.replace("http", "ws", 1) + CUSTOMER.format("s") + "?after=0"
    async with connect(address, max_queue=1, compression=None, ping_interval=None) as deaf:
        for number in range(700):
            await post(http, "/api/v1/agent/sessions/s/messages", content=f"{number} " + "长" * 3990)
        await asyncio.sleep(3)
        got = []
        with pytest.raises(ConnectionClosed):
            while True:
                got.append(await deaf.recv())
    assert len(got) < 700
    async with talking(server.address, CUSTOMER.format("s") + "?after=690") as customer:
        await customer.until(lambda frame: str(frame.get("content", "")).startswith("699 "))
        assert next(frame["seq"] for frame in customer.of("message")) == 691
