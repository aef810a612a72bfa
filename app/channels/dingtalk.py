"""钉钉 robots of an application: signed callbacks in; Markdown out, to the address that came with the message while it
counts, later by the robot's own interface.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import quote

from pydantic import Field, SecretStr

from app.channels.base import (
    Channel,
    ChannelOptions,
    ChannelParts,
    build_signature_error,
    build_unreadable_error,
    parse_object,
    read_token,
    require_field,
    require_fresh,
    require_small,
    reveal_secret,
)
from app.channels.client import ErrorCodes, require_text
from app.channels.crypto import is_same_signature
from app.channels.dingtalk_frames import open_stream, read_stream
from app.channels.errors import PlatformRefused, PlatformUnavailable, TokenExpired
from app.channels.markup import cut_text, draw_markdown, list_button_texts, split_text
from app.channels.tokens import FetchedToken
from app.channels.types import (
    MEDIA_NAMES,
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
from app.db.base import now
from app.limits.types import Rate

# Bytes of text in a message; the limit of the platform is 20 KB with everything around the text.
MAX_BYTES = 15_000
# What the platform takes of a picture or file.
MAX_FILE_BYTES = 20 * 1024 * 1024
# Extensions that the platform's robots may send.
FILE_KINDS = frozenset({"pdf", "doc", "docx", "xlsx", "zip", "rar"})
CODES = ErrorCodes(expired=frozenset({40001, 40014, 42001}), busy=frozenset({130101, 660026, 90018, 90002}), pause=60.0)
# `conversationType` of a group.
GROUP = "2"
KINDS = {"picture": InboundKind.IMAGE, "audio": InboundKind.VOICE, "video": InboundKind.FILE, "file": InboundKind.FILE}
# Maximum age of a request by the platform's documentation.
WINDOW = timedelta(hours=1)


class DingtalkOptions(ChannelOptions):
    """session_base: the only host that reply addresses in messages may name. robot_code: empty if it is the app key.
    stream: whether messages come over a WebSocket.
    """

    app_key: str = Field(min_length=1, max_length=64)
    app_secret: SecretStr = Field(min_length=8)
    robot_code: str = Field("", max_length=64)
    stream: bool = False
    api_base: str = Field("https://api.dingtalk.com", pattern=r"^https?://[^/\s]+$")
    session_base: str = Field("https://oapi.dingtalk.com", pattern=r"^https?://[^/\s]+$")


class DingtalkChannel(Channel):
    """See docs/channels.md."""

    Options = DingtalkOptions
    rate: ClassVar[Rate] = Rate(20, 1.0)
    has_token: ClassVar[bool] = True

    def __init__(self, options: DingtalkOptions, parts: ChannelParts) -> None:
        super().__init__(options, parts)
        self.has_stream = options.stream
        self.proves_users = options.stream  # the signature of a request does not cover who wrote

    async def listen_for_messages(self, save_message: Callable[[InboundMessage], Awaitable[None]]) -> None:
        """See `Channel`."""
        options = self.options
        secret = reveal_secret(options.app_secret)
        address = await open_stream(self.parts.client, options.api_base, options.app_key, secret)

        async def handle(data: Mapping[str, Any]) -> None:
            await save_message(self._build_message(data))

        await read_stream(address, handle)

    async def receive_request(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`. The signature covers only the time, so the body is trusted only where that is harmless."""
        timestamp, secret = request.headers.get("timestamp", ""), reveal_secret(self.options.app_secret)
        digest = hmac.digest(secret.encode(), f"{timestamp}\n{secret}".encode(), hashlib.sha256)
        if not is_same_signature(request.headers.get("sign", ""), base64.b64encode(digest).decode()):
            raise build_signature_error()
        require_fresh(timestamp, request.moment, window=WINDOW, milliseconds=True)
        message = self._build_message(parse_object(request.body))
        return CallbackResult(b"{}", "application/json", (message,))

    def render_reply(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: suggestions are links that send their own text."""
        pieces = split_text(draw_markdown(reply), MAX_BYTES)
        said = [
            f"- [{item}](dtmd://dingtalkclient/sendMessage?content={quote(item)})"
            for item in list_button_texts(reply, 60)
        ]
        if said:
            pieces[-1] = "\n\n".join([pieces[-1], "\n".join(said)])
        return [{"title": cut_text(piece.replace("\n", " "), 60) or "…", "text": piece} for piece in pieces]

    async def send_payload(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        # The address that came with a message works for a while and reaches anybody; once it has expired, as for an
        # answer of staff the next day, only the robot's own interface is left.
        if address["until"] > now().timestamp():
            body = {"msgtype": "markdown", "markdown": payload}
            CODES.check_response(await self.parts.client.request_json("POST", address["session"], json=body))
            return
        await self._send_robot_message(address, "sampleMarkdown", payload)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: by the robot's own interface, since the reply address of a message takes no files."""
        kind = file.name.rpartition(".")[2].lower()
        if not file.is_picture and kind not in FILE_KINDS:
            raise PlatformRefused(f"the platform's robots send no {kind} files")
        self._require_reachable(address)
        require_small(file, MAX_FILE_BYTES)
        id = await self._upload_file(file)
        if file.is_picture:
            await self._send_robot_message(address, "sampleImageMsg", {"photoURL": id})
        else:
            await self._send_robot_message(
                address, "sampleFile", {"mediaId": id, "fileName": file.name, "fileType": kind}
            )

    async def _upload_file(self, file: OutgoingFile) -> str:
        """Uploads a file and returns its id ("上传媒体文件")."""
        url, sent = f"{self.options.session_base}/media/upload", {"media": (file.name, file.content, file.media_type)}

        async def send_with_token(token: str) -> dict[str, Any]:
            params = {"access_token": token, "type": "image" if file.is_picture else "file"}
            return CODES.check_response(await self.parts.client.request_json("POST", url, params=params, files=sent))

        return require_text(await self.run_with_token(send_with_token), "media_id")

    @staticmethod
    def _require_reachable(address: Address) -> None:
        """Raises PlatformRefused if the robot's own interface cannot reach the customer."""
        if not address["staff"] and not address["group"]:
            raise PlatformRefused("the customer is no member of the company, whom robots write to by the session alone")

    async def _send_robot_message(self, address: Address, kind: str, content: Payload) -> None:
        self._require_reachable(address)
        body = {"robotCode": self.options.robot_code or self.options.app_key, "msgKey": kind}
        body |= {"msgParam": json.dumps(content, ensure_ascii=False)}
        if address["staff"] and not address["group"]:
            await self._call_api("/v1.0/robot/oToMessages/batchSend", body | {"userIds": [address["staff"]]})
        else:
            await self._call_api("/v1.0/robot/groupMessages/send", body | {"openConversationId": address["group"]})

    async def download_media(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel` ("下载机器人接收消息的文件内容")."""
        body = {"robotCode": self.options.robot_code or self.options.app_key, "downloadCode": media["code"]}
        url = (await self._call_api("/v1.0/robot/messageFiles/download", body)).get("downloadUrl")
        if not isinstance(url, str) or not url.startswith(("https://", f"{self.options.api_base}/")):
            raise PlatformRefused("the platform gives no file")
        content, _ = await self.parts.client.download_file(url, most)
        return [MediaFile(media["name"], content)]

    async def _call_api(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        async def send_with_token(token: str) -> dict[str, Any]:
            headers = {"x-acs-dingtalk-access-token": token}
            data = await self.parts.client.request_json(
                "POST", f"{self.options.api_base}{path}", headers=headers, json=body, codes=True
            )
            code = str(data.get("code", ""))
            if code == "InvalidAuthentication":
                raise TokenExpired(code)
            if "hrottl" in code or "limit" in code.lower():
                raise PlatformUnavailable(code)
            if code:
                raise PlatformRefused(f"{code} {str(data.get('message', ''))[:150]}")
            return data

        return await self.run_with_token(send_with_token)

    async def fetch_token(self) -> FetchedToken:
        """See `Channel`."""
        options = self.options
        body = {"appKey": options.app_key, "appSecret": reveal_secret(options.app_secret)}
        data = await self.parts.client.request_json("POST", f"{options.api_base}/v1.0/oauth2/accessToken", json=body)
        return read_token(data, "accessToken", "expireIn")

    def _build_message(self, data: Mapping[str, Any]) -> InboundMessage:
        room, user, session = (require_field(data, name) for name in ("conversationId", "senderId", "sessionWebhook"))
        until, sent = require_field(data, "sessionWebhookExpiredTime", int), require_field(data, "createAt", int)
        if not (0 < sent < 10**14 and 0 < until < 10**14):  # milliseconds that `datetime` can hold
            raise build_unreadable_error()
        if not session.startswith(f"{self.options.session_base}/"):  # nobody has our replies sent elsewhere
            raise build_unreadable_error()
        kind, text = KINDS.get(require_field(data, "msgtype"), InboundKind.TEXT), data.get("text")
        content = text.get("content") if isinstance(text, dict) else ""
        spoken = data.get("content", {}).get("recognition") if isinstance(data.get("content"), dict) else None
        if kind is InboundKind.VOICE and isinstance(spoken, str) and spoken:  # the platform wrote down what was said
            kind, content = InboundKind.TEXT, spoken
        in_group = data.get("conversationType") == GROUP
        address: Address = {
            "session": session,
            "until": until / 1000,
            "staff": str(data.get("senderStaffId") or ""),
            "group": room if in_group else "",
        }
        moment = datetime.fromtimestamp(sent / 1000, UTC)
        peer = f"{room}:{user}"
        media = _build_media(kind, data.get("content"))
        words = str(content or "").strip()
        return InboundMessage(require_field(data, "msgId"), peer, words, address, moment, kind, user, media)


def _build_media(kind: InboundKind, content: object) -> Payload:
    code = content.get("downloadCode") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(code, str) or kind not in MEDIA_NAMES:
        return {}
    name = content.get("fileName")
    return {"code": code[:512], "name": name if isinstance(name, str) and name else MEDIA_NAMES[kind]}
