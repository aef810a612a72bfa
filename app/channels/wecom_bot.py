"""企业微信智能机器人: encrypted JSON in; the reply goes into the response while the platform waits, else once to the
address that came with the message.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from app.channels.base import required, unreadable
from app.channels.encrypted import EncryptedChannel, EncryptedOptions
from app.channels.markup import draw_markdown, numbered, split_text
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    Payload,
)
from app.channels.wechat_api import KINDS, checked
from app.limits.types import Rate

MAX_BYTES = 20_000
"""The platform takes 20,480."""


class WecomBotChannel(EncryptedChannel):
    """See docs/channels.md. It is called by its address ("使用 API 模式创建", URL 回调)."""

    Options = EncryptedOptions
    rate: ClassVar[Rate] = Rate(6000)
    waits = 4.5

    def find_ciphertext(self, body: bytes) -> str:
        """See `EncryptedChannel`."""
        encrypted = _read(body).get("encrypt")
        return encrypted if isinstance(encrypted, str) else ""

    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """See `EncryptedChannel`."""
        told = _read(opened)
        message = self._message(told, request)
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

    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: one message, since there is one way to send it."""
        said = "\n".join(f"- {item}" for item in numbered(reply, 60))
        (text,) = split_text("\n\n".join(part for part in (draw_markdown(reply), said) if part), MAX_BYTES, 1)
        return [{"content": text}]

    async def send(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        body = {"msgtype": "markdown", "markdown": {"content": payload["content"]}}
        content = json.dumps(body, ensure_ascii=False).encode()
        checked(await self.parts.client.call("POST", address["url"], content=content))

    def _message(self, told: Mapping[str, Any], request: CallbackRequest) -> InboundMessage | None:
        """None for what is no message."""
        name, user = required(told, "msgid"), required(required(told, "from", dict), "userid")
        kind, url = required(told, "msgtype"), required(told, "response_url")
        if not url.startswith(f"{self.options.api_base}/"):  # nobody has our replies sent elsewhere
            raise unreadable()
        known, text = KINDS.get(kind), ""
        if kind == "event":
            entered = required(told, "event", dict).get("eventtype") == "enter_chat"
            known = InboundKind.ENTER if entered else None
        elif kind in ("text", "voice"):  # the platform wrote down what was said
            known, text = InboundKind.TEXT, str(required(told, kind, dict).get("content", ""))
        elif kind == "mixed":
            known, text = InboundKind.TEXT, _mixed(required(told, "mixed", dict))
        if known is None:
            return None
        peer = f"{told.get('chatid', '')}:{user}"
        return InboundMessage(name, peer, text.strip(), {"url": url}, request.moment, known, user)


def _mixed(told: Mapping[str, Any]) -> str:
    """The words between pictures."""
    items = told.get("msg_item")
    texts = [item.get("text") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return " ".join(str(text.get("content", "")) for text in texts if isinstance(text, dict))


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unreadable() from error
    if not isinstance(told, dict):
        raise unreadable()
    return told
