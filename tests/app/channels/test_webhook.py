from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from app.channels.base import Channel
from app.channels.types import CallbackRequest, ChannelReply, OutgoingFile, Payload
from app.webhooks.signature import EVENT, SIGNATURE, TIMESTAMP, sign_body
from tests.app.channels.contract import MOMENT, TEXT, SignedContract
from tests.app.channels.simulators import Call, Platform

SECRET = "a-secret-of-sixteen-characters"


def signed(body: bytes, moment: datetime) -> dict[str, str]:
    timestamp = str(int(moment.timestamp()))
    return {TIMESTAMP.lower(): timestamp, SIGNATURE.lower(): sign_body(SECRET, timestamp, body)}


class TestWebhookChannel(SignedContract):
    kind, send_path = "webhook", "/hook"

    def options(self, platform: Platform) -> dict[str, str]:
        return {"url": f"{platform.url}/hook", "secret": SECRET}

    def request(self, text: str = TEXT, id: str = "m1", moment: datetime = MOMENT, **about: Any) -> CallbackRequest:
        told = {"id": id, "user_id": about.get("user", "u1"), "kind": about.get("kind", "text"), "text": text}
        body = json.dumps(told).encode()
        return CallbackRequest("POST", {}, signed(body, moment), body, moment)

    def answer(self, call: Call) -> Any:
        return {}

    def has_received(self, platform: Platform, file: OutgoingFile) -> bool:
        """Only what it is: the receiver fetches it."""
        (told,) = platform.calls[-1].body["attachments"]
        wanted = {"id": file.id, "name": file.name, "media_type": file.media_type, "bytes": len(file.content)}
        return bool(told == wanted)

    def text_of(self, payload: Payload) -> str:
        return json.dumps(payload, ensure_ascii=False)

    def busy(self) -> Any:
        return 429, {}

    def refusal(self) -> Any:
        return 410, {}

    async def test_what_is_sent_is_signed(self, channel: Channel, platform: Platform) -> None:
        (payload,) = channel.render_reply(ChannelReply("可以。"))
        await channel.send_payload({"user_id": "u1"}, payload, "k1")
        (call,) = platform.calls
        assert call.headers[SIGNATURE.lower()] == sign_body(SECRET, call.headers[TIMESTAMP.lower()], call.raw)
        assert call.headers[EVENT.lower()] == "channel.reply"
        assert (call.body["id"], call.body["user_id"], call.body["sender"]) == ("k1", "u1", "bot")
