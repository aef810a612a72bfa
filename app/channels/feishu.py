"""飞书 / Lark: event subscription in its second version in, cards with Markdown and buttons out."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from app.channels.base import (
    Channel,
    ChannelOptions,
    ChannelParts,
    build_signature_error,
    parse_moment,
    parse_object,
    read_token,
    require_field,
    require_fresh,
    require_small,
    reveal_secret,
)
from app.channels.client import ErrorCodes, require_text
from app.channels.crypto import decrypt_feishu, is_same_signature, require_cryptography
from app.channels.markup import draw_markdown, list_button_texts, split_text
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
from app.limits.types import Rate

# Bytes of text in a card; the limit of the platform is 30 KB with everything around the text.
MAX_BYTES = 20_000
# What the platform takes; a larger picture is sent as a file.
MAX_PICTURE_BYTES, MAX_FILE_BYTES = 10 * 1024 * 1024, 30 * 1024 * 1024
# Types that the platform previews; all others are `stream`.
FILE_KINDS = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "doc",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xls",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "ppt",
}
CODES = ErrorCodes(
    expired=frozenset({99991663, 99991664, 99991661, 99991668}),
    busy=frozenset({99991400, 230020, 11232, 11233}),
    code="code",
    message="msg",
)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,256}")
KINDS = {"image": InboundKind.IMAGE, "audio": InboundKind.VOICE, "file": InboundKind.FILE, "media": InboundKind.FILE}


class FeishuOptions(ChannelOptions):
    """encrypt_key: signs and encrypts; empty if the application has none, so that only the verification token proves
    who sent a request.
    """

    app_id: str = Field(min_length=1, max_length=64)
    app_secret: SecretStr = Field(min_length=1)
    verification_token: SecretStr = Field(min_length=8)
    encrypt_key: SecretStr = SecretStr("")
    api_base: str = Field("https://open.feishu.cn", pattern=r"^https?://[^/\s]+$")


class FeishuChannel(Channel):
    """See docs/channels.md."""

    Options = FeishuOptions
    rate: ClassVar[Rate] = Rate(50, 1.0)
    has_token: ClassVar[bool] = True

    def __init__(self, options: FeishuOptions, parts: ChannelParts) -> None:
        super().__init__(options, parts)
        self.proves_users = bool(reveal_secret(options.encrypt_key))  # without it nothing is signed
        if self.proves_users:
            require_cryptography(parts.name)

    async def receive_request(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`."""
        data = self._open_body(request)
        if data.get("type") == "url_verification":  # comes once, unsigned, when the address is entered
            self._require_token(data.get("token"))
            body = json.dumps({"challenge": require_field(data, "challenge")[:256]}).encode()
            return CallbackResult(body, "application/json")
        self._require_signature(request)
        header, event = require_field(data, "header", dict), require_field(data, "event", dict)
        self._require_token(header.get("token"))
        name, kind = require_field(header, "event_id"), require_field(header, "event_type")
        read = {"im.message.receive_v1": _build_message, "card.action.trigger": _build_button_message}.get(kind)
        message = read(name, event, request.moment) if read else None
        return CallbackResult(b"{}", "application/json", (message,) if message else ())

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: buttons are below the last card."""
        drawn: list[Payload] = [
            {"elements": [{"tag": "markdown", "content": piece}]}
            for piece in split_text(draw_markdown(reply), MAX_BYTES)
        ]
        buttons = [
            {
                "tag": "button",
                "text": {"tag": "plain_text", "content": item},
                "type": "default",
                "value": {"message": item},
            }
            for item in list_button_texts(reply, 300)
        ]
        if buttons:
            drawn[-1]["elements"].append({"tag": "action", "actions": buttons})
        return drawn

    async def download_media(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel` ("获取消息中的资源文件")."""
        url = f"{self.options.api_base}/open-apis/im/v1/messages/{media['message']}/resources/{media['key']}"

        async def send_with_token(token: str) -> bytes:
            headers, params = {"Authorization": f"Bearer {token}"}, {"type": media["type"]}
            content, kind = await self.parts.client.download_file(url, most, params=params, headers=headers)
            if kind == "application/json":
                CODES.check_response(json.loads(content))
            return content

        return [MediaFile(media["name"], await self.run_with_token(send_with_token))]

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        await self._send_message(address, "interactive", {"config": {"wide_screen_mode": True}, **payload}, key)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: a picture too large for one goes as a file."""
        kind = "image" if file.is_picture and len(file.content) <= MAX_PICTURE_BYTES else "file"
        require_small(file, MAX_FILE_BYTES)
        about = {"image_type": "message"}
        if kind == "file":
            about = {"file_type": FILE_KINDS.get(file.media_type, "stream"), "file_name": file.name}
        sent = {kind: (file.name, file.content, file.media_type)}
        data = (await self._call_api(f"/open-apis/im/v1/{kind}s", data=about, files=sent)).get("data")
        id = require_text(data if isinstance(data, dict) else {}, f"{kind}_key")
        await self._send_message(address, kind, {f"{kind}_key": id}, key)

    async def _send_message(self, address: Address, kind: str, content: Payload, key: str) -> None:
        # The platform drops a second message with the same `uuid`: one that is sent again, since the response to the
        # first try was lost, arrives once.
        body = {"receive_id": address["chat"], "msg_type": kind, "content": json.dumps(content), "uuid": key}
        await self._call_api("/open-apis/im/v1/messages", params={"receive_id_type": "chat_id"}, json=body)

    async def _call_api(self, path: str, **options: Any) -> dict[str, Any]:
        async def send_with_token(token: str) -> dict[str, Any]:
            headers = {"Authorization": f"Bearer {token}"}
            url = f"{self.options.api_base}{path}"
            return CODES.check_response(
                await self.parts.client.request_json("POST", url, headers=headers, codes=True, **options)
            )

        return await self.run_with_token(send_with_token)

    def _open_body(self, request: CallbackRequest) -> Mapping[str, Any]:
        data = parse_object(request.body)
        key = reveal_secret(self.options.encrypt_key)
        if not key:
            return data
        return parse_object(decrypt_feishu(key, require_field(data, "encrypt")))

    def _require_signature(self, request: CallbackRequest) -> None:
        key = reveal_secret(self.options.encrypt_key)
        if not key:
            return
        timestamp, nonce = (request.headers.get(f"x-lark-request-{name}", "") for name in ("timestamp", "nonce"))
        wanted = hashlib.sha256(f"{timestamp}{nonce}{key}".encode() + request.body).hexdigest()
        if not is_same_signature(request.headers.get("x-lark-signature", ""), wanted):
            raise build_signature_error()
        require_fresh(timestamp, request.moment)

    def _require_token(self, shown: object) -> None:
        if not is_same_signature(str(shown), reveal_secret(self.options.verification_token)):
            raise build_signature_error()

    async def fetch_token(self) -> FetchedToken:
        """See `Channel`."""
        options = self.options
        body = {"app_id": options.app_id, "app_secret": reveal_secret(options.app_secret)}
        url = f"{options.api_base}/open-apis/auth/v3/tenant_access_token/internal"
        data = CODES.check_response(await self.parts.client.request_json("POST", url, json=body, codes=True))
        return read_token(data, "tenant_access_token", "expire")


def _build_message(name: str, event: Mapping[str, Any], _: datetime) -> InboundMessage | None:
    """Reads a message; None if another application wrote it."""
    message, sender = require_field(event, "message", dict), require_field(event, "sender", dict)
    if sender.get("sender_type") != "user":
        return None
    user, chat = require_field(require_field(sender, "sender_id", dict), "open_id"), require_field(message, "chat_id")
    known, text = KINDS.get(require_field(message, "message_type")), ""
    if known is None:
        known, text = InboundKind.TEXT, _extract_text(message)
    moment = parse_moment(require_field(message, "create_time"), per_second=1000)
    peer = f"{chat}:{user}"
    id = require_field(message, "message_id")
    media = _build_media(id, known, message) if known is not InboundKind.TEXT else {}
    return InboundMessage(id, peer, text, {"chat": chat}, moment, known, user, media)


def _build_media(id: str, kind: InboundKind, message: Mapping[str, Any]) -> Payload:
    content = parse_object(require_field(message, "content").encode("utf-8", "replace"))
    key, name = content.get("image_key") or content.get("file_key"), content.get("file_name")
    if not all(isinstance(part, str) and _KEY.fullmatch(part) for part in (id, key)):
        return {}
    named = name if isinstance(name, str) and name else "图片.png" if kind is InboundKind.IMAGE else "文件"
    return {"message": id, "key": key, "type": "image" if kind is InboundKind.IMAGE else "file", "name": named}


def _extract_text(message: Mapping[str, Any]) -> str:
    """Returns the text of a message without mentions."""
    content = parse_object(require_field(message, "content").encode("utf-8", "replace"))
    text = content.get("text")
    if text is None:  # a post: paragraphs of pieces
        paragraphs = content.get("content", [])
        pieces = [piece for line in paragraphs if isinstance(line, list) for piece in line if isinstance(piece, dict)]
        text = " ".join(str(piece.get("text", "")) for piece in pieces)
    for mention in message.get("mentions") or ():
        text = str(text).replace(str(mention.get("key", "")), "") if isinstance(mention, dict) else text
    return str(text).strip()


def _build_button_message(name: str, event: Mapping[str, Any], moment: datetime) -> InboundMessage | None:
    """Reads the press of a button below a card."""
    user = require_field(require_field(event, "operator", dict), "open_id")
    value, chat = require_field(event, "action", dict).get("value"), require_field(event, "context", dict)
    text, room = value.get("message") if isinstance(value, dict) else None, require_field(chat, "open_chat_id")
    if not isinstance(text, str):
        return None
    return InboundMessage(name, f"{room}:{user}", text, {"chat": room}, moment, user=user)
