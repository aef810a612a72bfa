from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from app.channels.base import Channel
from app.channels.errors import PlatformRefused
from app.channels.types import CallbackRequest, ChannelReply, Payload
from app.db.base import now
from app.errors import InvalidRequest
from tests.app.channels.contract import MOMENT, TEXT, UPLOADED, SignedContract, TokenContract
from tests.app.channels.simulators import Call, Platform, simulated
from tests.app.serving import served

SECRET = "secret-of-the-application"
KINDS = {"image": "picture", "voice": "audio"}
SESSION, SINGLE, GROUP = "/robot/sendBySession", "/v1.0/robot/oToMessages/batchSend", "/v1.0/robot/groupMessages/send"


class TestDingtalkChannel(SignedContract):
    kind, send_path = "dingtalk", SESSION
    most_bytes = 20_000
    most_file_bytes = 20 * 2**20
    covers_body = False
    until = timedelta(hours=2)

    def options(self, platform: Platform) -> dict[str, str]:
        self.url = platform.url
        return {"app_key": "ding1", "app_secret": SECRET, "api_base": platform.url, "session_base": platform.url}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        kind = str(about.get("kind", "text"))
        told = {
            "msgId": id,
            "conversationId": "cid1",
            "conversationType": about.get("conversation", "1"),
            "senderId": about.get("user", "u1"),
            "senderStaffId": about.get("staff", "manager1"),
            "createAt": int(moment.timestamp() * 1000),
            "sessionWebhook": f"{self.url}{SESSION}?session=s1",
            "sessionWebhookExpiredTime": int((now() + self.until).timestamp() * 1000),
            "msgtype": KINDS.get(kind, kind),
            "text": {"content": f" {text}"},
            **about.get("more", {}),
        }
        return CallbackRequest("POST", {}, self.headers(moment), json.dumps(told).encode(), moment)

    def headers(self, moment: datetime) -> dict[str, str]:
        timestamp = str(int(moment.timestamp() * 1000))
        digest = hmac.new(SECRET.encode(), f"{timestamp}\n{SECRET}".encode(), hashlib.sha256).digest()
        return {"timestamp": timestamp, "sign": base64.b64encode(digest).decode()}

    def answer(self, call: Call) -> Any:
        if call.path == "/v1.0/oauth2/accessToken":
            assert call.body == {"appKey": "ding1", "appSecret": SECRET}
            return {"accessToken": "t1", "expireIn": 7200}
        if call.path == "/media/upload":
            assert call.query["access_token"] == "t1"
            return {"errcode": 0, "media_id": UPLOADED}
        return {"errcode": 0, "errmsg": "ok"} if call.path == SESSION else {"processQueryKey": "q1"}

    def text_of(self, payload: Payload) -> str:
        return str(payload["text"])

    def busy(self) -> Any:
        return {"errcode": 130101, "errmsg": "send too fast, exceed 20 times per minute"}

    def refusal(self) -> Any:
        return {"errcode": 400302, "errmsg": "not in group"}

    async def test_suggestions_reach_the_customer(self, channel: Channel) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。", suggestions=("运费谁出",)))
        assert "[运费谁出](dtmd://dingtalkclient/sendMessage?content=%E8%BF%90" in payload["text"]

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1:1/x", "https://oapi.dingtalk.com.evil.example/x", "file:///etc/hosts", "http://[::1"]
    )
    async def test_replies_go_to_the_platform_alone(self, channel: Channel, url: str) -> None:
        with pytest.raises(InvalidRequest):
            await channel.receive_request(self.request(more={"sessionWebhook": url}))
        glued = self.url + "@evil.example/x"
        with pytest.raises(InvalidRequest):
            await channel.receive_request(self.request(more={"sessionWebhook": glued}))

    async def test_people_of_a_group_have_conversations_of_their_own(self, channel: Channel) -> None:
        (first,) = await self.read(channel, self.request(user="u1", conversation="2"))
        (second,) = await self.read(channel, self.request(user="u2", conversation="2"))
        assert first.peer != second.peer
        assert first.address["group"] == "cid1"


class TestDingtalkChannelLater(TestDingtalkChannel, TokenContract):
    """Once the address that came with a message ran out."""

    send_path, token_path = SINGLE, "/v1.0/oauth2/accessToken"
    until = timedelta(hours=-1)

    def busy(self) -> Any:
        return 429, {"code": "Forbidden.AccessDenied.QpsLimitForAppkeyAndApi", "message": "qps limit"}

    def refusal(self) -> Any:
        return 400, {"code": "invalidParameter.userIds.notExist", "message": "no such user"}

    def expired(self) -> Any:
        return 401, {"code": "InvalidAuthentication", "message": "不合法的access_token"}

    def read_by_customer(self, call: Call) -> str:
        assert call.headers["x-acs-dingtalk-access-token"] == "t1"
        return str(json.loads(call.body["msgParam"])["text"])

    async def test_a_group_is_told_as_a_group(self, channel: Channel, platform: Platform) -> None:
        (message,) = await self.read(channel, self.request(conversation="2"))
        await channel.send_payload(message.address, channel.render_reply(ChannelReply("可以。"))[0], "k1")
        assert platform.of(GROUP)[-1].body["openConversationId"] == "cid1"

    async def test_who_is_no_member_cannot_be_reached(self, channel: Channel) -> None:
        (message,) = await self.read(channel, self.request(staff=""))
        with pytest.raises(PlatformRefused):
            await channel.send_payload(message.address, channel.render_reply(ChannelReply("可以。"))[0], "k1")


class Gateway:
    """The platform's side of stream mode: connections get the frames that wait, and end after `disconnect`."""

    def __init__(self) -> None:
        self.waiting: list[list[dict[str, Any]]] = []
        self.acknowledged: list[dict[str, Any]] = []
        self.tickets: list[str] = []

    async def serve(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.tickets.append(socket.request.path)
        for frame in self.waiting.pop(0) if self.waiting else []:
            await socket.send(json.dumps(frame))
            if frame["headers"]["topic"] != "disconnect":
                self.acknowledged.append(json.loads(await socket.recv()))
        await socket.wait_closed()


def frame(kind: str, topic: str, data: str, id: str = "f1") -> dict[str, Any]:
    headers = {"topic": topic, "messageId": id, "contentType": "application/json", "time": "1"}
    return {"specVersion": "1.0", "type": kind, "headers": headers, "data": data}


async def test_messages_come_over_a_connection_that_is_opened_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.channels.listener.RETRY_SECONDS", 0.1)
    suite, gateway = TestDingtalkChannel(), Gateway()
    async with serve(gateway.serve, "127.0.0.1", 0) as server:
        endpoint = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/connect"

        def answer(call: Call) -> Any:
            if call.path == "/v1.0/gateway/connections/open":
                assert (call.body["clientId"], call.body["clientSecret"]) == ("ding1", SECRET)
                return {"endpoint": endpoint, "ticket": "a+b/c="}
            return suite.answer(call)

        async with simulated(answer) as platform:
            options = suite.options(platform) | {"stream": "true"}
            said = [suite.request("你好", f"m{number}").body.decode() for number in (1, 2)]
            topic = "/v1.0/im/bot/messages/get"
            gateway.waiting = [
                [
                    frame("SYSTEM", "ping", "p1"),
                    frame("CALLBACK", topic, "nonsense"),
                    frame("CALLBACK", topic, said[0]),
                ],
                [frame("CALLBACK", topic, said[0], "f2"), frame("CALLBACK", topic, said[1], "f3")],
            ]
            gateway.waiting[0].append(frame("SYSTEM", "disconnect", ""))
            account = {"name": "shop", "kind": "dingtalk", "options": options}
            async with served(tmp_path, channels=[account]):
                await platform.wait(SESSION, 2)
                await asyncio.sleep(0.7)
        assert len(platform.of(SESSION)) == 2
        assert [told["code"] for told in gateway.acknowledged] == [200, 400, 200, 200, 200]
        assert gateway.acknowledged[0]["data"] == "p1"
        assert gateway.acknowledged[-1]["headers"]["messageId"] == "f3"
        assert gateway.tickets[0] == "/connect?ticket=a%2Bb%2Fc%3D"
