"""企业微信智能机器人: encrypted JSON in; the reply goes into the response while the platform waits, otherwise once to
the reply address of the message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from app.channels.base import build_unreadable_error, parse_object, require_field
from app.channels.markup import draw_markdown, list_button_texts, split_text
from app.channels.tencent import EncryptedChannel, EncryptedOptions
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    Payload,
)
from app.channels.wechat_api import CODES, KINDS
from app.limits.types import Rate

# Bytes of a reply; the limit of the platform is 20,480.
MAX_BYTES = 20_000


class WecomBotChannel(EncryptedChannel):
    """See docs/channels.md. It is called by its address ("使用 API 模式创建", URL 回调)."""

    Options = EncryptedOptions
    rate: ClassVar[Rate] = Rate(6000)
    # A reply that is later can be sent only once, to the address that came with the message.
    wait_seconds = 4.5

    def find_ciphertext(self, body: bytes) -> str:
        """See `EncryptedChannel`."""
        encrypted = parse_object(body).get("encrypt")
        return encrypted if isinstance(encrypted, str) else ""

    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """See `EncryptedChannel`."""
        data = parse_object(opened)
        message = self._build_message(data, request)
        if message is None:
            return CallbackResult()

        def wrap(payload: Payload) -> bytes:
            text = payload["content"]
            if message.kind is InboundKind.ENTER:
                said: Payload = {"msgtype": "text", "text": {"content": text}}
            else:
                said = {"msgtype": "stream", "stream": {"id": message.id[:128], "finish": True, "content": text}}
            body = json.dumps(said, ensure_ascii=False).encode()
            sealed = self.seal_response(body, request)
            return json.dumps({name.lower(): value for name, value in sealed.items()}).encode()

        return CallbackResult(b"", "application/json", (message,), wrap=wrap)

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: one message, since a reply address works once."""
        said = "\n".join(f"- {item}" for item in list_button_texts(reply, 60))
        (text,) = split_text("\n\n".join(part for part in (draw_markdown(reply), said) if part), MAX_BYTES, 1)
        return [{"content": text}]

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        body = {"msgtype": "markdown", "markdown": {"content": payload["content"]}}
        content = json.dumps(body, ensure_ascii=False).encode()
        CODES.check_response(await self.parts.client.request_json("POST", address["url"], content=content))

    def _build_message(self, data: Mapping[str, Any], request: CallbackRequest) -> InboundMessage | None:
        """Reads a message; None for other events."""
        name, user = require_field(data, "msgid"), require_field(require_field(data, "from", dict), "userid")
        kind, url = require_field(data, "msgtype"), require_field(data, "response_url")
        if not url.startswith(f"{self.options.api_base}/"):  # nobody has our replies sent elsewhere
            raise build_unreadable_error()
        known, text = KINDS.get(kind), ""
        if kind == "event":
            entered = require_field(data, "event", dict).get("eventtype") == "enter_chat"
            known = InboundKind.ENTER if entered else None
        elif kind in ("text", "voice"):  # the platform wrote down what was said
            known, text = InboundKind.TEXT, str(require_field(data, kind, dict).get("content", ""))
        elif kind == "mixed":
            known, text = InboundKind.TEXT, _join_texts(require_field(data, "mixed", dict))
        if known is None:
            return None
        peer = f"{data.get('chatid', '')}:{user}"
        return InboundMessage(name, peer, text.strip(), {"url": url}, request.moment, known, user)


def _join_texts(data: Mapping[str, Any]) -> str:
    """Joins the texts between pictures."""
    items = data.get("msg_item")
    texts = [item.get("text") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return " ".join(str(text.get("content", "")) for text in texts if isinstance(text, dict))
