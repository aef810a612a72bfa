from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest

from app.channels.base import Channel
from app.channels.types import CallbackRequest, ChannelReply, InboundKind, Payload
from app.channels.wechat import WechatChannel
from app.db.base import now
from app.errors import Forbidden, InvalidRequest
from tests.app.channels.contract import MOMENT, PICTURE, TEXT, UPLOADED, TokenContract
from tests.app.channels.simulators import Call, Platform, simulated
from tests.app.channels.wechat_signing import KEY, NONCE, TOKEN, decrypt, encrypted_request, sha1, xml
from tests.app.serving import served

APP = "wx5823bf96d3bd56c7"
SEND, STABLE = "/cgi-bin/message/custom/send", "/cgi-bin/stable_token"


def message(text: str, id: str, moment: datetime, user: str, kind: str) -> bytes:
    about = {"ToUserName": "gh_1", "FromUserName": user, "CreateTime": int(moment.timestamp()), "MsgId": id}
    more = {"text": {"Content": text}, "image": {"PicUrl": "http://mmbiz/1"}, "voice": {"Format": "amr"}}
    return xml(**about, MsgType=kind, **more[kind])


def plain_request(body: bytes, moment: datetime) -> CallbackRequest:
    timestamp = str(int(moment.timestamp()))
    query = {"signature": sha1(TOKEN, timestamp, NONCE), "timestamp": timestamp, "nonce": NONCE}
    return CallbackRequest("POST", query, {}, body, moment)


class TestWechatChannel(TokenContract):
    kind, send_path, token_path = "wechat", SEND, STABLE
    most_bytes = 2048
    takes = (PICTURE,)
    most_file_bytes = 10 * 2**20
    covers_body = False

    def options(self, platform: Platform) -> dict[str, str]:
        return {"app_id": APP, "app_secret": "secret-of-app", "token": TOKEN, "api_base": platform.url}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        body = message(text, id, moment, about.get("user", "u1"), str(about.get("kind", "text")))
        return plain_request(body, moment)

    def answer(self, call: Call) -> Any:
        if call.path == STABLE:
            assert call.body == {"grant_type": "client_credential", "appid": APP, "secret": "secret-of-app"}
            return {"access_token": "t1", "expires_in": 7200}
        return {"errcode": 0, "errmsg": "ok", "media_id": UPLOADED}

    def text_of(self, payload: Payload) -> str:
        return str(payload["text"])

    def busy(self) -> Any:
        return {"errcode": -1, "errmsg": "system error"}

    def refusal(self) -> Any:
        return {"errcode": 45015, "errmsg": "response out of time limit"}

    def expired(self) -> Any:
        return {"errcode": 42001, "errmsg": "access_token expired"}

    async def test_the_address_is_verified(self, channel: Channel) -> None:
        request = self.request()
        verifying = replace(request, method="GET", query={**request.query, "echostr": "5838479218127813673"}, body=b"")
        assert (await channel.receive_request(verifying)).body == b"5838479218127813673"
        with pytest.raises(Forbidden):
            await channel.receive_request(self.forged(verifying))

    async def test_what_was_said_is_read_where_the_platform_wrote_it_down(self, channel: Channel) -> None:
        fields = {"FromUserName": "u1", "CreateTime": int(MOMENT.timestamp()), "MsgType": "voice", "MsgId": "1"}
        body = xml(**fields, Recognition="运费谁出")
        (said,) = await self.read(channel, self.wrapped(body))
        assert (said.kind, said.text) == (InboundKind.TEXT, "运费谁出")

    @pytest.mark.parametrize(("event", "kind"), [("subscribe", InboundKind.ENTER), ("unsubscribe", None)])
    async def test_who_follows_is_greeted(self, channel: Channel, event: str, kind: InboundKind | None) -> None:
        fields = {"FromUserName": "u1", "CreateTime": int(MOMENT.timestamp()), "MsgType": "event", "Event": event}
        assert [one.kind for one in await self.read(channel, self.wrapped(xml(**fields)))] == ([kind] if kind else [])

    async def test_entities_are_not_read(self, channel: Channel) -> None:
        body = b'<!DOCTYPE xml [<!ENTITY a "aaaa">]><xml><FromUserName>&a;</FromUserName></xml>'
        with pytest.raises(InvalidRequest):
            await channel.receive_request(self.wrapped(body))

    async def test_suggestions_are_a_menu(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。", suggestions=("运费谁出",)))
        await channel.send_payload({"openid": "u1"}, payload, "k1")
        told = self.sent(platform)[-1].body
        assert told["msgmenu"]["list"] == [{"id": "1", "content": "运费谁出"}]
        assert "运费谁出".encode() in self.sent(platform)[-1].raw

    async def test_a_passive_reply_goes_back_to_its_customer(self, channel: Channel) -> None:
        result = await channel.receive_request(self.request())
        assert result.wrap is not None
        told = ElementTree.fromstring(self.opened(result.wrap({"text": "可以 <b>&</b>"})))
        found = {child.tag: child.text for child in told}
        assert (found["ToUserName"], found["FromUserName"], found["Content"]) == ("u1", "gh_1", "可以 <b>&</b>")

    def wrapped(self, body: bytes) -> CallbackRequest:
        return plain_request(body, MOMENT)

    def opened(self, body: bytes) -> bytes:
        return body


class TestEncryptedWechatChannel(TestWechatChannel):
    covers_body = True

    def options(self, platform: Platform) -> dict[str, str]:
        return super().options(platform) | {"encoding_aes_key": KEY}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        return encrypted_request(super().request(text, id, moment, **about).body, APP, moment)

    def wrapped(self, body: bytes) -> CallbackRequest:
        return encrypted_request(body, APP, MOMENT)

    def opened(self, body: bytes) -> bytes:
        fields = {child.tag: child.text or "" for child in ElementTree.fromstring(body)}
        assert fields["MsgSignature"] == sha1(TOKEN, fields["TimeStamp"], fields["Nonce"], fields["Encrypt"])
        plain, owner = decrypt(fields["Encrypt"])
        assert owner == APP
        return plain

    async def test_a_message_for_another_account_is_refused(self, channel: Channel) -> None:
        with pytest.raises(InvalidRequest):
            await channel.receive_request(encrypted_request(xml(MsgType="text"), "wx-other", MOMENT))

    async def test_a_plain_message_is_refused(self, channel: Channel) -> None:
        with pytest.raises(Forbidden):
            await channel.receive_request(super().request())


@asynccontextmanager
async def product(folder: Path, platform: Platform, **options: str) -> AsyncIterator[tuple[Any, httpx.AsyncClient]]:
    own = {"app_id": APP, "app_secret": "secret-of-app", "token": TOKEN, "api_base": platform.url} | options
    account = {"name": "mp", "kind": "wechat", "options": own}
    async with (
        served(folder, channels=[account]) as one,
        httpx.AsyncClient(base_url=one.address, timeout=60) as http,
    ):
        yield one.container, http


async def said(http: httpx.AsyncClient, id: str = "m1") -> str:
    request = plain_request(message("你好", id, now(), "u1", "text"), now())
    response = await http.post("/api/v1/channels/mp/callback", params=dict(request.query), content=request.body)
    assert response.status_code == 200
    return response.text


def answering(call: Call) -> Any:
    return {"access_token": "t1", "expires_in": 7200} if call.path == STABLE else {"errcode": 0}


async def test_a_reply_in_time_is_in_the_response_and_nowhere_else(tmp_path: Path) -> None:
    async with simulated(answering) as platform, product(tmp_path, platform) as (_, http):
        told = ElementTree.fromstring(await said(http))
        assert told.findtext("Content")
        async with httpx.AsyncClient(base_url=str(http.base_url)) as admin:
            listed = (await admin.get("/api/v1/channels/mp/replies")).json()["replies"]
        assert [reply["status"] for reply in listed] == ["done"]
        assert platform.of(SEND) == []


async def test_a_late_reply_is_a_customer_service_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WechatChannel, "wait_seconds", 0.1)
    async with simulated(answering) as platform, product(tmp_path, platform) as (container, http):
        answer = container.chat.answer_message

        async def slowly(message: Any) -> Any:
            import asyncio

            await asyncio.sleep(0.5)
            return await answer(message)

        monkeypatch.setattr(container.chat, "answer_message", slowly)
        assert await said(http) == "success"
        (call,) = await platform.wait(SEND)
        assert call.body["touser"] == "u1"


async def test_who_may_send_nothing_later_is_answered_when_the_platform_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WechatChannel, "wait_seconds", 0.3)
    monkeypatch.setattr("app.channels.service.HOLD_SECONDS", 0.1)
    async with simulated(answering) as platform, product(tmp_path, platform, customer_service="false") as (parts, http):
        answer, turns = parts.chat.answer_message, []

        async def slowly(message: Any) -> Any:
            import asyncio

            turns.append(message)
            await asyncio.sleep(0.6)
            return await answer(message)

        monkeypatch.setattr(parts.chat, "answer_message", slowly)
        answers = [await said(http) for _ in range(4)]
        assert answers[0] == "success"
        assert sum("<Content>" in told for told in answers) == 1
        assert len(turns) == 1
        assert platform.of(SEND) == []
