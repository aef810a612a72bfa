"""微信公众号: plain and encrypted messages; the reply goes into the response where it is there within the five seconds
that the platform waits, else it is a customer-service message.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from app.channels.base import ChannelParts, require_fresh, require_small, required, revealed, unsigned
from app.channels.crypto import same, sorted_sha1
from app.channels.encrypted import EncryptedChannel, EncryptedOptions
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
    MediaFile,
    OutgoingFile,
    Payload,
)
from app.channels.wechat_api import KINDS, WechatApi, fetched, media_of, read_fields, sent_at, write_fields
from app.limits.types import Rate

MAX_BYTES = 2048
MAX_PICTURE_BYTES = 10 * 1024 * 1024
SUCCESS = b"success"


class WechatOptions(EncryptedOptions):
    """encoding_aes_key: of the encrypted mode ("安全模式"), empty for the plain one. customer_service: whether the
    account may send customer-service messages, which unverified ones may not.
    """

    app_id: str = Field(min_length=1, max_length=64)
    app_secret: SecretStr = Field(min_length=1)
    token: SecretStr = Field(min_length=3, max_length=32)
    encoding_aes_key: SecretStr = SecretStr("")
    customer_service: bool = True
    api_base: str = Field("https://api.weixin.qq.com", pattern=r"^https?://[^/\s]+$")


class WechatChannel(EncryptedChannel):
    """See docs/channels.md."""

    Options = WechatOptions
    rate: ClassVar[Rate] = Rate(300)
    waits = 4.5
    has_token: ClassVar[bool] = True

    def __init__(self, options: WechatOptions, parts: ChannelParts) -> None:
        super().__init__(options, parts, options.app_id)
        self._api = WechatApi(parts, options.api_base, self._token)
        self.holds = not options.customer_service

    def open_request(self, request: CallbackRequest) -> bytes:
        """See `EncryptedChannel`: signed without the content, and with it as well in the encrypted mode."""
        query = request.query
        timestamp = query.get("timestamp", "")
        wanted = sorted_sha1(revealed(self.options.token), timestamp, query.get("nonce", ""))
        if not same(query.get("signature", ""), wanted):
            raise unsigned()
        require_fresh(timestamp, request.moment)
        if request.method == "GET":
            return query.get("echostr", "")[:256].encode()
        return super().open_request(request) if self.cipher else request.body

    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """See `EncryptedChannel`."""
        fields = read_fields(opened)
        message = self._message(fields)
        if message is None:
            return CallbackResult(SUCCESS)

        def wrap(payload: Payload) -> bytes:
            told = write_fields(_passive(fields, payload))
            return write_fields(self.seal_response(told, request)) if self.cipher else told

        return CallbackResult(SUCCESS, "text/xml", (message,), wrap=wrap)

    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: with a menu below the last piece, which a response shows as lines."""
        pieces = split_text(draw_plain(reply, suggestions=False), MAX_BYTES - 400, 1 if self.holds else 3)
        drawn: list[Payload] = [{"text": piece} for piece in pieces]
        if menu := numbered(reply, 60):
            drawn[-1]["menu"] = list(menu)
        return drawn

    async def download(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel`."""
        return await self._api.media(media, most)

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

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: pictures; customer-service messages know no files."""
        if self.holds or not file.is_picture:
            raise PlatformRefused("the platform takes pictures only, from accounts that may send them")
        require_small(file, MAX_PICTURE_BYTES)
        image = {"media_id": await self._api.upload(file, "image")}
        body = {"touser": address["openid"], "msgtype": "image", "image": image}
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
        media = media_of(known, fields.get("MediaId"))
        return InboundMessage(name, user, text, {"openid": user}, moment, known, user, media)

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
