from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

from app.channels.base import Channel
from app.channels.types import CallbackRequest, InboundMessage, Payload
from app.db.base import now
from tests.app.channels.contract import MOMENT, TEXT, UPLOADED, TokenContract
from tests.app.channels.simulators import Call, Platform, simulated
from tests.app.channels.wechat_signing import KEY, TOKEN, encrypted_request, xml
from tests.app.serving import served

CORP, ACCOUNT = "ww12345", "wkAAA"
SYNC, SEND = "/cgi-bin/kf/sync_msg", "/cgi-bin/kf/send_msg"


def event(moment: datetime) -> CallbackRequest:
    about = {"CreateTime": int(moment.timestamp()), "MsgType": "event", "Event": "kf_msg_or_event"}
    return encrypted_request(xml(**about, Token="ENC1", OpenKfId=ACCOUNT), CORP, moment)


def message(id: str, user: str, text: str, moment: datetime, kind: str = "text", origin: int = 3) -> dict[str, Any]:
    about = {"msgid": id, "open_kfid": ACCOUNT, "external_userid": user, "send_time": int(moment.timestamp())}
    return {**about, "origin": origin, "msgtype": kind, kind: {"content": text}}


class TestWecomKfChannel(TokenContract):
    kind, send_path, token_path = "wecom_kf", SEND, "/cgi-bin/gettoken"
    most_bytes = 2048
    most_file_bytes = 20 * 2**20

    def options(self, platform: Platform) -> dict[str, str]:
        secrets = {"secret": "secret-of-app", "token": TOKEN, "encoding_aes_key": KEY}
        return {"corp_id": CORP, "open_kfid": ACCOUNT, "api_base": platform.url, **secrets}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        self.waiting = [message(id, about.get("user", "u1"), text, moment, str(about.get("kind", "text")))]
        return event(moment)

    def answer(self, call: Call) -> Any:
        if call.path == self.token_path:
            return {"errcode": 0, "access_token": "t1", "expires_in": 7200}
        if call.path == SYNC:
            assert call.body["open_kfid"] == ACCOUNT
            return {"errcode": 0, "next_cursor": "c1", "has_more": 0, "msg_list": self.waiting}
        return {"errcode": 0, "errmsg": "ok", "media_id": UPLOADED}

    async def read(self, channel: Channel, request: CallbackRequest) -> tuple[InboundMessage, ...]:
        result = await channel.receive_request(request)
        assert result.messages == ()
        return (await channel.pull_messages("", result.pull)).messages

    def text_of(self, payload: Payload) -> str:
        return str(payload["text"]["content"])

    def busy(self) -> Any:
        return {"errcode": 45009, "errmsg": "api freq out of limit"}

    def refusal(self) -> Any:
        return {"errcode": 95002, "errmsg": "send msg session status invalid"}

    def expired(self) -> Any:
        return {"errcode": 40014, "errmsg": "invalid access_token"}

    async def test_what_staff_wrote_is_no_message(self, channel: Channel) -> None:
        request = self.request()
        self.waiting = [message("m1", "u1", "您好", MOMENT, origin=5), {"msgid": 1}, "no message"]  # type: ignore[list-item]
        assert await self.read(channel, request) == ()

    async def test_news_of_another_account_are_not_fetched(self, channel: Channel) -> None:
        about = {"CreateTime": 1, "MsgType": "event", "Event": "kf_msg_or_event", "Token": "E", "OpenKfId": "other"}
        assert (await channel.receive_request(encrypted_request(xml(**about), CORP, MOMENT))).pull == ""


async def test_pages_are_fetched_once_and_what_is_old_is_left(tmp_path: Path) -> None:
    moment = now()
    pages: dict[str, dict[str, Any]] = {
        "": {"next_cursor": "c1", "has_more": 1, "msg_list": [message("m0", "u1", "旧的", MOMENT)]},
        "c1": {"next_cursor": "c2", "has_more": 0, "msg_list": [message("m1", "u1", "你好", moment)]},
        "c2": {"next_cursor": "c2", "has_more": 0, "msg_list": [message("m1", "u1", "你好", moment)]},
    }

    def answer(call: Call) -> Any:
        if call.path == SYNC:
            return {"errcode": 0, **pages[call.body.get("cursor", "")]}
        return {"errcode": 0, "access_token": "t1", "expires_in": 7200}

    secrets = {"secret": "secret-of-app", "token": TOKEN, "encoding_aes_key": KEY}
    async with simulated(answer) as platform:
        options = {"corp_id": CORP, "open_kfid": ACCOUNT, "api_base": platform.url, **secrets}
        account = {"name": "kf", "kind": "wecom_kf", "options": options}
        async with served(tmp_path, channels=[account]) as one, httpx.AsyncClient(base_url=one.address) as http:
            (call,) = await platform.wait(SEND)
            assert call.body["touser"] == "u1"
            request = event(now())
            told = await http.post("/api/v1/channels/kf/callback", params=dict(request.query), content=request.body)
            assert told.text == "success"
            calls = await platform.wait(SYNC, 3)
            assert [call.body.get("cursor", "") for call in calls] == ["", "c1", "c2"]
            assert calls[-1].body["token"] == "ENC1"
            await asyncio.sleep(1.0)
            assert len(platform.of(SEND)) == 1
