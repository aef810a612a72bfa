"""Read marks and who looks at what, over staff's WebSocket and both databases."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx

from app.db.base import now
from app.db.engine import Database
from app.desk.types import Sender
from tests.app.desk.building import assigned, desk_over, key, queued
from tests.app.desk.client import talking
from tests.app.serving import served


async def test_a_read_mark_never_goes_back_nor_beyond_the_last_message(database: Database) -> None:
    desk = desk_over(database)
    await assigned(desk)
    await desk.service.send_message(key(), "您好", by="amy")
    await desk.mark_read(key(), "bob", 99, viewing=True)
    assert not await desk.reads.mark_read(key(), "bob", 1, viewing=True)  # nothing new
    assert await desk.reads.mark_read(key(), "bob", 1, viewing=False)
    session = await desk.sessions.find(key())
    assert session is not None
    assert (await desk.reads.load_last_messages("t", ["s"]))["s"].sender is Sender.AGENT
    assert (
        await desk.reads.count_unread("t", "bob", ["s"]) == {} == await desk.reads.count_unread("other", "bob", ["s"])
    )
    assert await desk.reads.count_unread("t", "eve", ["s"]) == {"s": 1}  # never opened
    assert await desk.reads.list_viewers(key()) == []


async def test_a_session_put_aside_is_neither_released_nor_ended(database: Database) -> None:
    desk = desk_over(database)
    await assigned(desk)
    await queued(desk, "other")
    await desk.service.snooze_session(key(), now() + timedelta(hours=1), "amy")
    passed = timedelta(microseconds=1)
    assert [session.session_id for session in await desk.sessions.list_forgotten(passed)] == ["other"]
    assert await desk.sessions.list_unanswered(passed) == []
    await desk.service.snooze_session(key(), None)
    assert {session.session_id for session in await desk.sessions.list_forgotten(passed)} == {"other", "s"}


async def test_the_socket_tells_what_is_unread_and_who_looks(tmp_path: Path) -> None:
    light = {"embedder": "hash", "vector_store": "memory", "samples_enabled": False}
    async with served(tmp_path, _env_file=None, **light) as target:
        await target.container.startup.ready.wait()
        async with httpx.AsyncClient(base_url=target.address, timeout=60) as http:
            await http.post("/api/v1/conversations/s/handoff", json={})
            await http.post("/api/v1/agent/sessions/s/accept", json={"agent_id": "amy"})
            path = "/api/v1/agent/ws?agent_id="
            async with talking(target.address, f"{path}amy") as amy, talking(target.address, f"{path}amy") as phone:
                for page in (amy, phone):
                    await page.send("hello", agent_id="amy")
                await http.post("/api/v1/chat", json={"message": "在吗", "session_id": "s"})
                for page in (amy, phone):
                    assert (await page.until(lambda frame: frame.get("unread") == 1))["session_id"] == "s"
                message = await amy.until(lambda frame: frame["type"] == "message" and frame["sender"] == "customer")
                await amy.send("view", session_id="s", seq=message["seq"])
                last = phone.frames.index(await phone.until(lambda frame: frame.get("unread") == 1))
                await phone.until(lambda frame: frame.get("unread") == 0 and phone.frames.index(frame) > last)
                async with talking(target.address, f"{path}bob") as bob:
                    await bob.send("hello", agent_id="bob")
                    await bob.send("view", session_id="s", seq=0)
                    seen = await bob.until(lambda frame: frame["type"] == "viewers")
                    assert [viewer["agent_id"] for viewer in seen["viewers"]] == ["amy"]
                    await amy.until(lambda frame: [one["agent_id"] for one in frame.get("viewers", ())] == ["bob"])
                async with asyncio.timeout(30):
                    while amy.of("viewers")[-1]["viewers"]:
                        amy.news.clear()
                        await amy.news.wait()
                await amy.send("view", session_id="nowhere", seq=1)
                assert (await amy.until(lambda frame: frame["type"] == "error"))["error"]["code"] == (
                    "desk_session_not_found"
                )
