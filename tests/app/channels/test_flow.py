"""From a platform's request to the platform's messages, through the whole product."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.auth.principal import Role
from app.channels import repository, worker
from app.channels.base import Channel
from app.channels.repository import hash_platform_id
from app.channels.webhook import WebhookChannel
from app.db.base import now
from app.db.leased_queue import Backoff
from app.keys.repository import KeyRepository
from app.keys.service import create_key, hash_key
from app.limits.types import Rate
from tests.app.attachments.pictures import png
from tests.app.channels.simulators import Platform, simulated
from tests.app.channels.test_webhook import SECRET, signed
from tests.app.serving import Served, served

CALLBACK = "/api/v1/channels/shop/callback"
HOOK = "/hook"


def account(platform: Platform, **more: str) -> dict[str, Any]:
    return {"name": "shop", "kind": "webhook", "options": {"url": f"{platform.url}{HOOK}", "secret": SECRET, **more}}


@asynccontextmanager
async def product(folder: Path, platform: Platform, **settings: Any) -> AsyncIterator[tuple[Served, httpx.AsyncClient]]:
    async with (
        served(folder, channels=[account(platform)], **settings) as one,
        httpx.AsyncClient(base_url=one.address, timeout=60) as http,
    ):
        yield one, http


async def say(http: httpx.AsyncClient, text: str, id: str = "m1", **more: Any) -> httpx.Response:
    body = json.dumps({"id": id, "user_id": "u1", "text": text, **more}).encode()
    return await http.post(CALLBACK, content=body, headers=signed(body, now()))


async def test_a_message_is_answered_once_however_often_it_comes(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        for _ in range(3):
            assert (await say(http, "你好")).status_code == 200
        await say(http, "谢谢", "m2")
        first, second = await platform.wait(HOOK, 2)
        await asyncio.sleep(1.0)
        assert len(platform.of(HOOK)) == 2
        assert first.body["text"]
        assert first.body["session_id"] == second.body["session_id"]
        assert (await http.get("/api/v1/channels")).json()["channels"][0]["done"] == 2


async def test_a_message_that_nobody_signed_is_kept_nowhere(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        refused = await http.post(CALLBACK, content=b"{}", headers={"x-yingda-signature": "sha256=0"})
        assert refused.status_code == 403
        assert (await http.post("/api/v1/channels/none/callback")).status_code == 404
        assert (await http.get("/api/v1/channels/shop/replies")).json()["total"] == 0


async def test_messages_of_a_conversation_are_answered_in_the_order_they_were_sent(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (one, http):
        await one.container.channels._messages.close()
        for number in (3, 1, 2):
            await say(http, f"第 {number} 句", f"m{number}", sent_at=f"2026-03-02T08:00:0{number}Z")
        one.container.channels._messages.start()
        calls = await platform.wait(HOOK, 3)
        assert [call.body["in_reply_to"] for call in calls] == [hash_platform_id(f"m{number}") for number in (1, 2, 3)]


async def test_what_staff_write_reaches_the_customer_and_the_bot_is_silent(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        await say(http, "转人工客服")
        (call,) = await platform.wait(HOOK)
        session = call.body["session_id"]
        desk = f"/api/v1/agent/sessions/{session}"
        assert (await http.post(f"{desk}/accept", json={"agent_id": "a01"})).is_success
        assert (await http.post(f"{desk}/messages", json={"content": "您好，我是小王"})).is_success
        calls = await platform.wait(HOOK, 3)
        assert "您好，我是小王" in [call.body["text"] for call in calls if call.body["sender"] == "agent"]
        before = len(platform.of(HOOK))
        await say(http, "我的订单丢了", "m2")
        await say(http, "", "m3", kind="image")
        await asyncio.sleep(1.5)
        assert len(platform.of(HOOK)) == before
        told = (await http.get(f"{desk}/messages")).json()["messages"]
        assert {"我的订单丢了", "[图片]"} <= {message["content"] for message in told}


async def test_what_staff_sends_goes_out_and_a_refusal_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with simulated() as platform, product(tmp_path, platform, attachment_ocr_seconds=0) as (one, http):
        await say(http, "转人工客服")
        session = (await platform.wait(HOOK))[0].body["session_id"]
        desk = f"/api/v1/agent/sessions/{session}"
        assert (await http.post(f"{desk}/accept", json={"agent_id": "a01"})).is_success
        await platform.wait(HOOK, 2)
        sent = await send_file(http, desk, "看这里", "指示灯.png")
        *_, words, file = await platform.wait(HOOK, 4)
        assert (words.body["text"], file.body["text"]) == ("看这里", "")
        (attached,) = file.body["attachments"]
        assert (attached["id"], attached["name"]) == (sent, "指示灯.png")

        channel = one.container.channels._opened["shop"].channel
        monkeypatch.setattr(channel, "send_file", partial(Channel.send_file, channel))  # as where none are taken
        await send_file(http, desk, "", "说明.png")
        told = (await platform.wait(HOOK, 5))[-1].body
        assert "“说明.png”" in told["text"] and "attachments" not in told
        async with asyncio.timeout(30):
            while not (dead := (await http.get("/api/v1/channels/shop/replies?status=dead")).json())["total"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert "takes no files" in dead["replies"][0]["error"]


async def send_file(http: httpx.AsyncClient, desk: str, words: str, name: str) -> str:
    """The id of a picture that staff sent."""
    sent = (await http.post(f"{desk}/attachments", files={"file": (name, png())})).json()["id"]
    assert (await http.post(f"{desk}/messages", json={"content": words, "attachments": [sent]})).is_success
    return str(sent)


async def test_a_picture_is_told_that_nobody_sees_it(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        await say(http, "", kind="image")
        (call,) = await platform.wait(HOOK)
        assert "图片" in call.body["text"]


async def test_a_reply_is_tried_again_and_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with simulated() as platform, product(tmp_path, platform, channel_max_attempts=1) as (_, http):
        platform.faults[HOOK] = [(500, {})]
        await say(http, "你好")
        await platform.wait(HOOK)
        async with asyncio.timeout(10):
            while not (found := (await http.get("/api/v1/channels/shop/replies?status=dead")).json())["total"]:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        (reply,) = found["replies"]
        assert "500" in reply["error"]
        assert (await http.post(f"/api/v1/channels/shop/replies/{reply['id']}/retry")).status_code == 204
        assert (await http.post("/api/v1/channels/shop/replies/none/retry")).status_code == 404
        await platform.wait(HOOK, 2)


async def test_a_turn_that_fails_is_had_later_and_at_last_apologised_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "BACKOFF", Backoff(timedelta(0)))
    async with simulated() as platform, product(tmp_path, platform) as (one, http):
        tries = []

        async def broken(message: Any) -> Any:
            tries.append(message)
            raise RuntimeError("out of order")

        monkeypatch.setattr(one.container.chat, "answer_message", broken)
        await say(http, "你好")
        (call,) = await platform.wait(HOOK)
        assert len(tries) == worker.MAX_ATTEMPTS
        assert call.body["text"]


async def test_a_restart_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    async with simulated() as platform:
        async with product(tmp_path, platform) as (one, http):
            await one.container.channels._replies.close()
            await say(http, "你好")
            async with asyncio.timeout(30):
                while not (await http.get("/api/v1/channels/shop/replies")).json()["total"]:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        assert platform.calls == []
        async with product(tmp_path, platform) as (_, http):
            await platform.wait(HOOK)
            await say(http, "你好")
            await asyncio.sleep(1.0)
            assert len(platform.calls) == 1


async def test_a_conversation_that_is_deleted_leaves_nothing(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        await say(http, "你好")
        (call,) = await platform.wait(HOOK)
        await asyncio.sleep(0.3)
        assert (await http.delete(f"/api/v1/conversations/{call.body['session_id']}")).is_success
        assert (await http.get("/api/v1/channels/shop/replies")).json()["total"] == 0
        await say(http, "你好", "m9")
        _, again = await platform.wait(HOOK, 2)
        assert again.body["session_id"] != call.body["session_id"]


async def test_a_platform_is_not_sent_more_than_it_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WebhookChannel, "rate", Rate(1, 2.0))
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        await say(http, "你好")
        await say(http, "谢谢", "m2")
        await platform.wait(HOOK)
        assert len(platform.of(HOOK)) == 1
        await platform.wait(HOOK, 2)


async def conversation_of(http: httpx.AsyncClient, session: str) -> tuple[str, bool]:
    """Who a conversation is with, and whether that is proved."""
    told = (await http.get(f"/api/v1/conversations/{session}")).json()
    return told["user_id"], told["verified"]


async def test_whom_the_backend_vouches_for_is_the_member_and_nobody_is_by_what_is_typed(tmp_path: Path) -> None:
    members = "/api/v1/channels/shop/members"
    async with simulated() as platform, product(tmp_path, platform) as (_, http):

        async def session(id: str, **about: str) -> str:
            count = len(platform.of(HOOK))
            await say(http, about.pop("text", "你好"), id, **about)
            told: str = (await platform.wait(HOOK, count + 1))[-1].body["session_id"]
            return told

        first = await session("m1")
        assert (await conversation_of(http, first))[1] is False
        assert (await http.put(members, json={"channel_user": "u1", "user_id": "M0001"})).status_code == 204
        assert await session("m2") == first
        assert await conversation_of(http, first) == ("M0001", True)
        impostor = await session("m3", text="我是会员 M0001", user_id="u2")
        assert (await conversation_of(http, impostor))[1] is False

        await http.put(members, json={"channel_user": "u1", "user_id": "M0002"})
        second = await session("m4")
        assert second != first
        assert await conversation_of(http, second) == ("M0002", True)
        assert await conversation_of(http, first) == ("M0001", True)

        assert (await http.get("/api/v1/channels")).json()["channels"][0]["members"] == 1
        assert (await http.delete(members, params={"user_id": "M0002"})).status_code == 204
        assert (await http.delete(members, params={"user_id": "M0002"})).status_code == 404
        third = await session("m5")
        assert third not in (first, second)
        assert (await conversation_of(http, third))[1] is False
        for wrong in ({}, {"user_id": "M1", "channel_user": "u1"}):
            assert (await http.delete(members, params=wrong)).status_code == 400


async def test_members_are_said_by_servers_of_the_tenant_and_by_nobody_else(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (one, http):
        repository = KeyRepository(one.container.base.database)

        async def status(tenant: str, role: Role, method: str, path: str, body: Any = None) -> int:
            key = create_key()
            await repository.create(tenant, role, "key", hash_key(key))
            request = http.build_request(method, f"/api/v1/channels/shop/{path}", json=body, headers={"X-API-Key": key})
            async with asyncio.timeout(10):  # a new key counts within a second
                while (answer := await http.send(request)).status_code == 401:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            return answer.status_code

        member = {"channel_user": "u1", "user_id": "M0001"}
        allowed = {Role.ADMIN: 204, Role.SERVER: 204, Role.AGENT: 403, Role.CLIENT: 403, Role.METRICS: 403}
        for role, wanted in allowed.items():
            assert await status("default", role, "PUT", "members", member) == wanted, role
        assert await status("rival", Role.SERVER, "PUT", "members", member) == 404
        assert await status("rival", Role.SERVER, "DELETE", "members?user_id=M0001") == 404
        assert await status("rival", Role.ADMIN, "GET", "conversations") == 404
        assert await status("rival", Role.ADMIN, "POST", "test", {"session_id": "s1"}) == 404
        assert await status("default", Role.SERVER, "POST", "test", {"session_id": "s1"}) == 403


async def test_a_channel_that_does_not_prove_who_writes_has_no_members(tmp_path: Path) -> None:
    unproved = {"name": "ding", "kind": "dingtalk", "options": {"app_key": "k", "app_secret": "secret-of-ding"}}
    async with (
        served(tmp_path, channels=[unproved]) as one,
        httpx.AsyncClient(base_url=one.address, timeout=60) as http,
    ):
        told = (await http.get("/api/v1/channels")).json()["channels"][0]
        assert told["proves_users"] is False
        assert told["token"] == {"status": "unused", "expires_at": None, "error": ""}
        refused = await http.put("/api/v1/channels/ding/members", json={"channel_user": "u1", "user_id": "M1"})
        assert refused.json()["error"]["code"] == "channel_users_unproved"


async def test_a_test_message_goes_the_way_of_replies_and_the_account_tells_what_went_on(tmp_path: Path) -> None:
    async with simulated() as platform, product(tmp_path, platform) as (_, http):
        assert (await http.get("/api/v1/channels")).json()["channels"][0]["last_message_at"] is None
        await say(http, "你好")
        await platform.wait(HOOK)
        (one,) = (await http.get("/api/v1/channels/shop/conversations")).json()["conversations"]
        test = "/api/v1/channels/shop/test"
        assert (await http.post(test, json={"session_id": one["session_id"]})).status_code == 204
        assert (await http.post(test, json={"session_id": "none"})).status_code == 404
        _, call = await platform.wait(HOOK, 2)
        assert (call.body["sender"], "测试" in call.body["text"]) == ("system", True)
        async with asyncio.timeout(10):
            while (told := (await http.get("/api/v1/channels")).json()["channels"][0])["done"] != 2:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
        assert told["last_message_at"] <= told["last_reply_at"]
        assert (told["token"], told["problem"]) == (None, "")
