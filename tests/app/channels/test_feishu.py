from __future__ import annotations

import base64
import hashlib
import json
import os
from datetime import datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from app.channels.base import Channel
from app.channels.types import CallbackRequest, ChannelReply, Payload
from app.errors import Forbidden
from tests.app.channels.contract import MOMENT, TEXT, UPLOADED, TokenContract
from tests.app.channels.simulators import Call, Platform

KEY, TOKEN = "an-encrypt-key", "v-token-of-feishu"
KINDS = {"voice": "audio"}


def encrypt(told: dict[str, Any]) -> bytes:
    plain, start = json.dumps(told).encode(), os.urandom(16)
    padding = 16 - len(plain) % 16
    cipher = Cipher(algorithms.AES(hashlib.sha256(KEY.encode()).digest()), modes.CBC(start)).encryptor()
    data = cipher.update(plain + bytes([padding]) * padding) + cipher.finalize()
    return json.dumps({"encrypt": base64.b64encode(start + data).decode()}).encode()


def event(kind: str, body: dict[str, Any], id: str = "e1") -> dict[str, Any]:
    header = {"event_id": id, "event_type": kind, "token": TOKEN, "app_id": "cli_1"}
    return {"schema": "2.0", "header": header, "event": body}


class TestFeishuChannel(TokenContract):
    kind, send_path = "feishu", "/open-apis/im/v1/messages"
    token_path = "/open-apis/auth/v3/tenant_access_token/internal"
    most_bytes = 30_000
    most_file_bytes = 30 * 2**20

    def options(self, platform: Platform) -> dict[str, str]:
        secrets = {"app_secret": "secret-of-app", "verification_token": TOKEN, "encrypt_key": KEY}
        return {"app_id": "cli_1", "api_base": platform.url, **secrets}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        kind = str(about.get("kind", "text"))
        message = {
            "message_id": id,
            "chat_id": "oc_" + about.get("user", "u1"),
            "chat_type": "p2p",
            "message_type": KINDS.get(kind, kind),
            "create_time": str(int(moment.timestamp() * 1000)),
            "content": json.dumps({"text": text}),
            "mentions": about.get("mentions", []),
        }
        sender = {"sender_id": {"open_id": about.get("user", "u1")}, "sender_type": about.get("sender", "user")}
        told = event("im.message.receive_v1", {"sender": sender, "message": message}, f"e-{id}")
        return self.signed(told, moment)

    def signed(self, told: dict[str, Any], moment: datetime = MOMENT) -> CallbackRequest:
        body, timestamp, nonce = encrypt(told), str(int(moment.timestamp())), "n1"
        signature = hashlib.sha256(f"{timestamp}{nonce}{KEY}".encode() + body).hexdigest()
        named = {"timestamp": timestamp, "nonce": nonce}
        headers = {f"x-lark-request-{name}": value for name, value in named.items()}
        return CallbackRequest("POST", {}, headers | {"x-lark-signature": signature}, body, moment)

    def answer(self, call: Call) -> Any:
        if call.path == self.token_path:
            assert call.body == {"app_id": "cli_1", "app_secret": "secret-of-app"}
            return {"code": 0, "tenant_access_token": "t1", "expire": 7200}
        assert call.headers["authorization"] == "Bearer t1"
        return {"code": 0, "msg": "success", "data": {"image_key": UPLOADED, "file_key": UPLOADED}}

    def read_by_customer(self, call: Call) -> str:
        return json.dumps(json.loads(call.body["content"]), ensure_ascii=False)

    def text_of(self, payload: Payload) -> str:
        return str(payload["elements"][0]["content"])

    def busy(self) -> Any:
        return 400, {"code": 99991400, "msg": "request trigger frequency limit"}

    def refusal(self) -> Any:
        return 400, {"code": 230002, "msg": "Bot/User can NOT be out of the chat."}

    def expired(self) -> Any:
        return 400, {"code": 99991663, "msg": "Invalid access token for authorization"}

    async def test_the_address_is_verified(self, channel: Channel) -> None:
        told = {"type": "url_verification", "challenge": "ajls384kdjx98XX", "token": TOKEN}
        result = await channel.receive_request(CallbackRequest("POST", {}, {}, encrypt(told), MOMENT))
        assert json.loads(result.body) == {"challenge": "ajls384kdjx98XX"}
        with pytest.raises(Forbidden):
            await channel.receive_request(CallbackRequest("POST", {}, {}, encrypt(told | {"token": "other"}), MOMENT))

    async def test_the_token_of_another_application_is_refused(self, channel: Channel) -> None:
        told = event("im.message.receive_v1", {})
        told["header"]["token"] = "v-token-of-another"
        with pytest.raises(Forbidden):
            await channel.receive_request(self.signed(told))

    async def test_mentions_are_no_part_of_what_is_asked(self, channel: Channel) -> None:
        request = self.request("@_user_1 怎么退货", mentions=[{"key": "@_user_1", "name": "应答"}])
        (message,) = await self.read(channel, request)
        assert message.text == "怎么退货"

    async def test_what_another_application_wrote_is_no_message(self, channel: Channel) -> None:
        assert await self.read(channel, self.request(sender="app")) == ()

    async def test_a_button_asks_what_it_says(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。", suggestions=("运费谁出",)))
        await channel.send_payload({"chat": "oc_1"}, payload, "k1")
        call = self.sent(platform)[-1]
        assert (call.query, call.body["receive_id"], call.body["uuid"]) == (
            {"receive_id_type": "chat_id"},
            "oc_1",
            "k1",
        )
        (button,) = json.loads(call.body["content"])["elements"][-1]["actions"]
        body = {
            "operator": {"open_id": "u1"},
            "action": {"value": button["value"]},
            "context": {"open_chat_id": "oc_1"},
        }
        (message,) = await self.read(channel, self.signed(event("card.action.trigger", body)))
        assert (message.text, message.address) == ("运费谁出", {"chat": "oc_1"})

    async def test_other_events_are_taken_and_left(self, channel: Channel) -> None:
        assert await self.read(channel, self.signed(event("im.chat.updated_v1", {"chat_id": "oc_1"}))) == ()


class TestFeishuChannelWithoutKey(TestFeishuChannel):
    covers_body, replays_expire = False, False

    def options(self, platform: Platform) -> dict[str, str]:
        return {name: value for name, value in super().options(platform).items() if name != "encrypt_key"}

    def signed(self, told: dict[str, Any], moment: datetime = MOMENT) -> CallbackRequest:
        return CallbackRequest("POST", {}, {}, json.dumps(told).encode(), moment)

    def forged(self, request: CallbackRequest) -> CallbackRequest:
        return CallbackRequest("POST", {}, {}, request.body.replace(TOKEN.encode(), b"v-token-of-others"), MOMENT)

    async def test_a_request_without_any_signature_is_refused(self, channel: Channel) -> None:
        told = event("im.message.receive_v1", {})
        del told["header"]["token"]
        with pytest.raises(Forbidden):
            await channel.receive_request(self.signed(told))

    async def test_the_address_is_verified(self, channel: Channel) -> None:
        told = {"type": "url_verification", "challenge": "ajls384kdjx98XX", "token": TOKEN}
        assert b"ajls384kdjx98XX" in (await channel.receive_request(self.signed(told))).body
