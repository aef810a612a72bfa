from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from app.channels.base import Channel
from app.channels.types import CallbackRequest, InboundKind, Payload
from app.errors import Forbidden, InvalidRequest
from tests.app.channels.contract import MOMENT, TEXT, SignedContract
from tests.app.channels.simulators import Call, Platform
from tests.app.channels.wechat_signing import KEY, NONCE, TOKEN, decrypt, encrypt, encrypted_verification, sha1

RESPONSE = "/cgi-bin/aibot/response"


class TestWecomBotChannel(SignedContract):
    kind, send_path = "wecom_bot", RESPONSE
    most_bytes = 20_480
    takes = ()

    def options(self, platform: Platform) -> dict[str, str]:
        self.url = platform.url
        return {"token": TOKEN, "encoding_aes_key": KEY, "api_base": platform.url}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        kind = {"voice": "file"}.get(str(about.get("kind", "text")), str(about.get("kind", "text")))
        told = {
            "msgid": id,
            "aibotid": "aib1",
            "chattype": "single",
            "from": {"userid": about.get("user", "u1")},
            "response_url": f"{self.url}{RESPONSE}?response_code=r1",
            "msgtype": kind,
            kind: {"content": text},
            **about.get("more", {}),
        }
        encrypted, timestamp = encrypt(json.dumps(told).encode(), ""), str(int(moment.timestamp()))
        query = {"msg_signature": sha1(TOKEN, timestamp, NONCE, encrypted), "timestamp": timestamp, "nonce": NONCE}
        return CallbackRequest("POST", query, {}, json.dumps({"encrypt": encrypted}).encode(), moment)

    def answer(self, call: Call) -> Any:
        return {"errcode": 0, "errmsg": "ok"}

    def text_of(self, payload: Payload) -> str:
        return str(payload["content"])

    def busy(self) -> Any:
        return {"errcode": 45009, "errmsg": "api freq out of limit"}

    def refusal(self) -> Any:
        return {"errcode": 60140, "errmsg": "response_code has been used"}

    @pytest.mark.parametrize("kind", [InboundKind.IMAGE, InboundKind.FILE])
    async def test_what_is_no_text_says_so(self, channel: Channel, kind: InboundKind) -> None:
        (message,) = await self.read(channel, self.media(kind))
        assert message.kind is kind

    async def test_the_address_is_verified(self, channel: Channel) -> None:
        verifying = encrypted_verification(b"1616140317555161061", "", MOMENT)
        assert (await channel.receive_request(verifying)).body == b"1616140317555161061"
        with pytest.raises(Forbidden):
            await channel.receive_request(self.forged(verifying))

    async def test_a_reply_in_the_response_is_sealed(self, channel: Channel) -> None:
        result = await channel.receive_request(self.request())
        assert result.wrap is not None
        told = json.loads(result.wrap({"content": "可以"}))
        assert told["msgsignature"] == sha1(TOKEN, told["timestamp"], told["nonce"], told["encrypt"])
        said = json.loads(decrypt(told["encrypt"])[0])
        assert said == {"msgtype": "stream", "stream": {"id": "m1", "finish": True, "content": "可以"}}

    async def test_who_enters_is_greeted_by_text(self, channel: Channel) -> None:
        more = {"msgtype": "event", "event": {"eventtype": "enter_chat"}}
        result = await channel.receive_request(self.request(more=more))
        assert result.messages[0].kind is InboundKind.ENTER
        assert result.wrap is not None
        assert json.loads(decrypt(json.loads(result.wrap({"content": "您好"}))["encrypt"])[0])["msgtype"] == "text"

    async def test_words_between_pictures_are_read(self, channel: Channel) -> None:
        items = [{"msgtype": "image", "image": {"url": "u"}}, {"msgtype": "text", "text": {"content": "这是什么"}}]
        (message,) = await self.read(channel, self.request(more={"msgtype": "mixed", "mixed": {"msg_item": items}}))
        assert message.text == "这是什么"

    @pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "https://qyapi.weixin.qq.com.evil.example/x"])
    async def test_replies_go_to_the_platform_alone(self, channel: Channel, url: str) -> None:
        with pytest.raises(InvalidRequest):
            await channel.receive_request(self.request(more={"response_url": url}))
