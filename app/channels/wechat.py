"""微信公众号: plain and encrypted messages; the reply goes into the response where it is there within the five seconds
that the platform waits, else it is a customer-service message.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from app.channels.base import Channel, ChannelOptions, ChannelParts, require_fresh, required, revealed, unsigned
from app.channels.crypto import same, sorted_sha1
from app.channels.errors import PlatformRefused
from app.channels.markup import draw_plain, numbered, split_text
from app.channels.tokens import Fetched
from app.channels.types import (
    Address,
    CallbackRequest,
    CallbackResult,
    ChannelReply,
    InboundKind,
    InboundMessage,
    Payload,
)
from app.channels.wechat_api import KINDS, EncryptedCallback, WechatApi, fetched, read_fields, sent_at, write_fields
from app.limits.types import Rate

MAX_BYTES = 2048
SUCCESS = b"success"


class WechatOptions(ChannelOptions):
    """encoding_aes_key: of the encrypted mode ("安全模式"), empty for the plain one. customer_service: whether the
    account may send customer-service messages, which unverified ones may not.
    """

    app_id: str = Field(min_length=1, max_length=64)
    app_secret: SecretStr = Field(min_length=1)
    token: SecretStr = Field(min_length=3, max_length=32)
    encoding_aes_key: SecretStr = SecretStr("")
    customer_service: bool = True
    api_base: str = Field("https://api.weixin.qq.com", pattern=r"^https?://[^/\s]+$")


class WechatChannel(Channel):
    """See docs/channels.md."""

    Options = WechatOptions
    rate: ClassVar[Rate] = Rate(300)
    waits = 4.5

    def __init__(self, options: WechatOptions, parts: ChannelParts) -> None:
        super().__init__(options, parts)
        key, token = revealed(options.encoding_aes_key), revealed(options.token)
        self._encrypted = EncryptedCallback(token, key, options.app_id, parts.name) if key else None
        self._api = WechatApi(parts, options.api_base, self._token)
        self.holds = not options.customer_service

    async def receive(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`."""
        query = request.query
        timestamp, nonce = query.get("timestamp", ""), query.get("nonce", "")
        wanted = sorted_sha1(revealed(self.options.token), timestamp, nonce)
        if not same(query.get("signature", ""), wanted):
            raise unsigned()
        require_fresh(timestamp, request.moment)
        if request.method == "GET":
            return CallbackResult(query.get("echostr", "")[:256].encode())
        fields = read_fields(self._encrypted.open(request) if self._encrypted else request.body)
        message = self._message(fields)
        if message is None:
            return CallbackResult(SUCCESS)

        def wrap(payload: Payload) -> bytes:
            told = _passive(fields, payload)
            return write_fields(self._encrypted.seal(write_fields(told), timestamp, nonce) if self._encrypted else told)

        return CallbackResult(SUCCESS, "text/xml", (message,), wrap=wrap)

    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: with a menu below the last piece, which a response shows as lines."""
        pieces = split_text(draw_plain(reply, suggestions=False), MAX_BYTES - 400, 1 if self.holds else 3)
        drawn: list[Payload] = [{"text": piece} for piece in pieces]
        if menu := numbered(reply, 60):
            drawn[-1]["menu"] = list(menu)
        return drawn

    async def send(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        if self.holds:
            raise PlatformRefused("the reply was not there in time, and the account sends no customer-service messages")
        body: dict[str, Any] = {"touser": address["openid"], "msgtype": "text", "text": {"content": payload["text"]}}
        if menu := payload.get("menu"):
            items = [{"id": str(number), "content": item} for number, item in enumerate(menu, 1)]
            told = {"head_content": payload["text"], "list": items, "tail_content": ""}
            body = {"touser": address["openid"], "msgtype": "msgmenu", "msgmenu": told}
        await self._api.call("/cgi-bin/message/custom/send", body)

    def _message(self, fields: Mapping[str, str]) -> InboundMessage | None:
        """None for what is no message, as somebody who leaves."""
        user, kind, text = required(fields, "FromUserName"), required(fields, "MsgType"), fields.get("Content", "")
        moment = sent_at(fields)
        name = fields.get("MsgId") or f"{user}:{fields['CreateTime']}:{fields.get('Event', '')}"
        known = KINDS.get(kind)
        if kind == "event":
            known = {"subscribe": InboundKind.ENTER, "CLICK": InboundKind.TEXT}.get(fields.get("Event", ""))
            text = fields.get("EventKey", "") if known is InboundKind.TEXT else ""
        elif kind == "voice" and fields.get("Recognition"):  # the platform wrote down what was said
            known, text = InboundKind.TEXT, fields["Recognition"]
        elif known is not InboundKind.TEXT:
            text = fields.get("PicUrl", "")
        if known is None:
            return None
        return InboundMessage(name, user, text, {"openid": user}, moment, known)

    async def _token(self) -> Fetched:
        """The stable one, which is the same for all who ask."""
        options = self.options
        body = {
            "grant_type": "client_credential",
            "appid": options.app_id,
            "secret": revealed(options.app_secret),
        }
        return fetched(await self.parts.client.call("POST", f"{options.api_base}/cgi-bin/stable_token", json=body))


def _passive(fields: Mapping[str, str], payload: Payload) -> Mapping[str, str | int]:
    """A reply within the response."""
    text = "\n".join([payload["text"], *(f"· {item}" for item in payload.get("menu", ()))])
    return {
        "ToUserName": fields["FromUserName"],
        "FromUserName": fields.get("ToUserName", ""),
        "CreateTime": int(time.time()),
        "MsgType": "text",
        "Content": text,
    }
