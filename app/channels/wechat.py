"""微信公众号: plain and encrypted messages; the reply goes into the response if it is ready within the five seconds
that the platform waits, otherwise it is sent as a customer-service message.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from app.channels.base import (
    ChannelParts,
    build_signature_error,
    parse_moment,
    read_token,
    require_field,
    require_fresh,
    require_small,
    reveal_secret,
)
from app.channels.crypto import hash_sorted_parts, is_same_signature
from app.channels.errors import PlatformRefused
from app.channels.markup import draw_plain, list_button_texts, split_text
from app.channels.tencent import EncryptedChannel, EncryptedOptions
from app.channels.tokens import FetchedToken
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
from app.channels.wechat_api import CODES, KINDS, WechatApi, build_media, read_fields, write_fields
from app.limits.types import Rate

# Bytes of a text message that the platform takes.
MAX_BYTES = 2048
# What the platform takes of a picture.
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
    # The platform waits for 5 seconds; the rest is for the way back.
    wait_seconds = 4.5
    has_token: ClassVar[bool] = True

    def __init__(self, options: WechatOptions, parts: ChannelParts) -> None:
        super().__init__(options, parts, options.app_id)
        self._api = WechatApi(self)
        self.is_passive = not options.customer_service

    def open_request(self, request: CallbackRequest) -> bytes:
        """See `EncryptedChannel`: one signature without the content, and in the encrypted mode a second one with it."""
        query = request.query
        timestamp = query.get("timestamp", "")
        wanted = hash_sorted_parts(reveal_secret(self.options.token), timestamp, query.get("nonce", ""))
        if not is_same_signature(query.get("signature", ""), wanted):
            raise build_signature_error()
        require_fresh(timestamp, request.moment)
        if request.method == "GET":
            return query.get("echostr", "")[:256].encode()
        return super().open_request(request) if self.cipher else request.body

    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """See `EncryptedChannel`."""
        fields = read_fields(opened)
        message = self._build_message(fields)
        if message is None:
            return CallbackResult(SUCCESS)

        def wrap(payload: Payload) -> bytes:
            xml = write_fields(_build_passive_reply(fields, payload))
            return write_fields(self.seal_response(xml, request)) if self.cipher else xml

        return CallbackResult(SUCCESS, "text/xml", (message,), wrap=wrap)

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: with a menu below the last piece; a response shows it as lines."""
        # 400 bytes are left for the suggestions: in a response they are lines of the text, five of 60 bytes at most.
        # And a response holds one message, where others may follow as customer-service messages.
        pieces = split_text(draw_plain(reply, suggestions=False), MAX_BYTES - 400, 1 if self.is_passive else 3)
        drawn: list[Payload] = [{"text": piece} for piece in pieces]
        if menu := list_button_texts(reply, 60):
            drawn[-1]["menu"] = list(menu)
        return drawn

    async def download_media(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel`."""
        return await self._api.download_media(media, most)

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        if self.is_passive:
            raise PlatformRefused("the reply was not there in time, and the account sends no customer-service messages")
        body: dict[str, Any] = {"touser": address["openid"], "msgtype": "text", "text": {"content": payload["text"]}}
        if menu := payload.get("menu"):
            items = [{"id": str(number), "content": item} for number, item in enumerate(menu, 1)]
            menu_body = {"head_content": payload["text"], "list": items, "tail_content": ""}
            body = {"touser": address["openid"], "msgtype": "msgmenu", "msgmenu": menu_body}
        await self._api.call_api("/cgi-bin/message/custom/send", body)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: only pictures, since customer-service messages have no files."""
        if self.is_passive or not file.is_picture:
            raise PlatformRefused("the platform takes pictures only, from accounts that may send them")
        require_small(file, MAX_PICTURE_BYTES)
        image = {"media_id": await self._api.upload_file(file, "image")}
        body = {"touser": address["openid"], "msgtype": "image", "image": image}
        await self._api.call_api("/cgi-bin/message/custom/send", body)

    def _build_message(self, fields: Mapping[str, str]) -> InboundMessage | None:
        """Reads a message; None for other events, such as a user who leaves."""
        user, kind = require_field(fields, "FromUserName"), require_field(fields, "MsgType")
        text = fields.get("Content", "")
        moment = parse_moment(fields.get("CreateTime", ""))
        # Events have no id: a repeated one is recognised by who caused it, when, and what it is.
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
        media = build_media(known, fields.get("MediaId"))
        return InboundMessage(name, user, text, {"openid": user}, moment, known, user, media)

    async def fetch_token(self) -> FetchedToken:
        """See `Channel`: the stable token, which is the same for all callers."""
        options = self.options
        body = {
            "grant_type": "client_credential",
            "appid": options.app_id,
            "secret": reveal_secret(options.app_secret),
        }
        url = f"{options.api_base}/cgi-bin/stable_token"
        data = CODES.check_response(await self.parts.client.request_json("POST", url, json=body))
        return read_token(data, "access_token", "expires_in")


def _build_passive_reply(fields: Mapping[str, str], payload: Payload) -> Mapping[str, str | int]:
    """Builds the fields of a reply within the response."""
    text = "\n".join([payload["text"], *(f"· {item}" for item in payload.get("menu", ()))])
    return {
        "ToUserName": fields["FromUserName"],
        "FromUserName": fields.get("ToUserName", ""),
        "CreateTime": int(time.time()),
        "MsgType": "text",
        "Content": text,
    }
