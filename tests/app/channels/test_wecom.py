from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from app.channels.base import Channel
from app.channels.types import CallbackRequest, ChannelReply, Payload
from app.errors import Forbidden, InvalidRequest
from tests.app.channels.contract import MOMENT, TEXT, UPLOADED, TokenContract
from tests.app.channels.simulators import Call, Platform
from tests.app.channels.wechat_signing import KEY, TOKEN, encrypted_request, encrypted_verification, xml

CORP = "wx5823bf96d3bd56c7"


class TestWecomChannel(TokenContract):
    kind, send_path, token_path = "wecom", "/cgi-bin/message/send", "/cgi-bin/gettoken"
    most_bytes = 2048
    most_file_bytes = 20 * 2**20

    def options(self, platform: Platform) -> dict[str, str]:
        secrets = {"secret": "secret-of-app", "token": TOKEN, "encoding_aes_key": KEY}
        return {"corp_id": CORP, "agent_id": "1000002", "api_base": platform.url, **secrets}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        fields = {"FromUserName": about.get("user", "u1"), "CreateTime": int(moment.timestamp()), "MsgId": id}
        kind = str(about.get("kind", "text"))
        return encrypted_request(xml(**fields, ToUserName=CORP, MsgType=kind, Content=text, AgentID=1), CORP, moment)

    def answer(self, call: Call) -> Any:
        if call.path == self.token_path:
            assert call.query == {"corpid": CORP, "corpsecret": "secret-of-app"}
            return {"errcode": 0, "access_token": "t1", "expires_in": 7200}
        return {"errcode": 0, "errmsg": "ok", "media_id": UPLOADED}

    def text_of(self, payload: Payload) -> str:
        return str(payload["markdown"]["content"])

    def busy(self) -> Any:
        return {"errcode": 45009, "errmsg": "api freq out of limit"}

    def refusal(self) -> Any:
        return {"errcode": 81013, "errmsg": "user & party & tag all invalid"}

    def expired(self) -> Any:
        return {"errcode": 42001, "errmsg": "access_token expired"}

    async def test_the_address_is_verified(self, channel: Channel) -> None:
        verifying = encrypted_verification(b"1616140317555161061", CORP, MOMENT)
        assert (await channel.receive_request(verifying)).body == b"1616140317555161061"
        with pytest.raises(Forbidden):
            await channel.receive_request(self.forged(verifying))

    async def test_a_message_for_another_company_is_refused(self, channel: Channel) -> None:
        with pytest.raises(InvalidRequest):
            await channel.receive_request(encrypted_request(xml(MsgType="text"), "wx-other", MOMENT))

    async def test_a_button_asks_what_it_says(self, channel: Channel, platform: Platform) -> None:
        *_, card = channel.render_reply(ChannelReply("可以。", suggestions=("运费谁出",)))
        await channel.send_payload({"user": "u1"}, card, "k1")
        told = self.sent(platform)[-1].body
        assert told["template_card"]["task_id"] == "k1"
        (button,) = told["template_card"]["button_list"]
        fields = {"FromUserName": "u1", "CreateTime": int(MOMENT.timestamp()), "MsgType": "event"}
        pressed = xml(**fields, Event="template_card_event", EventKey=button["key"], TaskId="k1")
        (message,) = await self.read(channel, encrypted_request(pressed, CORP, MOMENT))
        assert message.text == "运费谁出"

    async def test_events_are_no_messages(self, channel: Channel) -> None:
        fields = {"FromUserName": "u1", "CreateTime": int(MOMENT.timestamp()), "MsgType": "event"}
        assert await self.read(channel, encrypted_request(xml(**fields, Event="LOCATION"), CORP, MOMENT)) == ()
