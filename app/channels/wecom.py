"""企业微信自建应用: encrypted XML in; Markdown, and a card with buttons for suggestions, out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from app.channels.base import parse_moment, require_field
from app.channels.markup import draw_markdown, list_button_texts, split_text
from app.channels.tencent import CorpChannel, CorpOptions
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    OutgoingFile,
    Payload,
)
from app.channels.wechat_api import KINDS, build_media, read_fields
from app.limits.types import Rate

MAX_BYTES = 2048
TITLE = "您可以试试问我"


class WecomOptions(CorpOptions):
    """The options of an application that the company made ("自建应用")."""

    agent_id: int = Field(ge=1)


class WecomChannel(CorpChannel):
    """See docs/channels.md."""

    Options = WecomOptions
    rate: ClassVar[Rate] = Rate(6000)

    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """See `EncryptedChannel`."""
        fields = read_fields(opened)
        user, kind = require_field(fields, "FromUserName"), require_field(fields, "MsgType")
        text = fields.get("Content", "")
        moment, known = parse_moment(fields.get("CreateTime", "")), KINDS.get(kind)
        name = fields.get("MsgId") or f"{user}:{fields['CreateTime']}:{fields.get('Event', '')}"
        if kind == "event":
            pressed = fields.get("Event") == "template_card_event"
            known = InboundKind.TEXT if pressed else None
            text, name = fields.get("EventKey", ""), f"{name}:{fields.get('TaskId', '')}:{fields.get('EventKey', '')}"
        elif known is not InboundKind.TEXT:
            text = fields.get("PicUrl", "")
        if known is None:
            return CallbackResult()
        media = build_media(known, fields.get("MediaId"))
        address = {"user": user}
        return CallbackResult(messages=(InboundMessage(name, user, text, address, moment, known, user, media),))

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`."""
        drawn: list[Payload] = [
            {"msgtype": "markdown", "markdown": {"content": piece}}
            for piece in split_text(draw_markdown(reply), MAX_BYTES)
        ]
        if suggestions := list_button_texts(reply, 60):
            card = {
                "card_type": "button_interaction",
                "main_title": {"title": TITLE},
                "button_list": [{"text": item, "style": 2, "key": item} for item in suggestions],
            }
            drawn.append({"msgtype": "template_card", "template_card": card})
        return drawn

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        body = {**payload, "touser": address["user"], "agentid": self.options.agent_id}
        if "template_card" in payload:
            body["template_card"] = {**payload["template_card"], "task_id": key}
        await self.api.call_api("/cgi-bin/message/send", body)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`."""
        await self.send_payload(address, await self.build_file_message(file), key)
