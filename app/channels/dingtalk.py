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
    require_fresh,
    require_small,
    required,
    revealed,
    unreadable,
    unsigned,
)
from app.channels.crypto import same
from app.channels.dingtalk_frames import open_stream, read_stream
from app.channels.errors import PlatformRefused, PlatformUnavailable, TokenExpired
from app.channels.markup import draw_markdown, head, numbered, split_text
from app.channels.tokens import Fetched
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

MAX_BYTES = 15_000
"""A message has 20 KB with all that is around its text."""
MAX_FILE_BYTES = 20 * 1024 * 1024
FILE_KINDS = frozenset({"pdf", "doc", "docx", "xlsx", "zip", "rar"})
"""Extensions that the platform's robots may send."""
BUSY = frozenset({130101, 660026, 90018, 90002})
"""Codes of session addresses: too often."""
EXPIRED = frozenset({40001, 40014, 42001})
"""Codes of the upload: the token counts no more."""
GROUP = "2"
"""`conversationType` of a group."""
KINDS = {"picture": InboundKind.IMAGE, "audio": InboundKind.VOICE, "video": InboundKind.FILE, "file": InboundKind.FILE}
WINDOW = timedelta(hours=1)
"""As the platform's documentation says."""


class DingtalkOptions(ChannelOptions):
    """session_base: where the addresses that come with messages lead, and no others are called. robot_code: empty where
    it is the app key.
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
        self.listens = options.stream
        self.proves_users = options.stream  # the signature of a request does not cover who wrote

    async def listen(self, take: Callable[[InboundMessage], Awaitable[None]]) -> None:
        """See `Channel`."""
        options = self.options
        secret = revealed(options.app_secret)
        address = await open_stream(self.parts.client, options.api_base, options.app_key, secret)

        async def handle(told: Mapping[str, Any]) -> None:
            await take(self._message(told))

        await read_stream(address, handle)

    async def receive(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`. The signature covers the time alone: the body is believed as far as it does no harm."""
        timestamp, secret = request.headers.get("timestamp", ""), revealed(self.options.app_secret)
        digest = hmac.digest(secret.encode(), f"{timestamp}\n{secret}".encode(), hashlib.sha256)
        if not same(request.headers.get("sign", ""), base64.b64encode(digest).decode()):
            raise unsigned()
        require_fresh(timestamp, request.moment, window=WINDOW, milliseconds=True)
        try:
            told = json.loads(request.body)
        except (ValueError, RecursionError) as error:
            raise unreadable() from error
        if not isinstance(told, dict):
            raise unreadable()
        return CallbackResult(b"{}", "application/json", (self._message(told),))

    def render(self, reply: ChannelReply) -> Sequence[Payload]:
        """See `Channel`: suggestions are links that send what they say."""
        pieces = split_text(draw_markdown(reply), MAX_BYTES)
        said = [f"- [{item}](dtmd://dingtalkclient/sendMessage?content={quote(item)})" for item in numbered(reply, 60)]
        if said:
            pieces[-1] = "\n\n".join([pieces[-1], "\n".join(said)])
        return [{"title": head(piece.replace("\n", " "), 60) or "…", "text": piece} for piece in pieces]

    async def send(self, address: Address, payload: Payload, key: str) -> None:
        """See `Channel`."""
        if address["until"] > now().timestamp():
            body = {"msgtype": "markdown", "markdown": payload}
            _checked(await self.parts.client.call("POST", address["session"], json=body))
            return
        await self._send(address, "sampleMarkdown", payload)

    async def send_file(self, address: Address, file: OutgoingFile, key: str) -> None:
        """See `Channel`: by the robot's own interface, since the address that came with a message takes none."""
        kind = file.name.rpartition(".")[2].lower()
        if not file.is_picture and kind not in FILE_KINDS:
            raise PlatformRefused(f"the platform's robots send no {kind} files")
        self._require_reachable(address)
        require_small(file, MAX_FILE_BYTES)
        id = await self._upload(file)
        if file.is_picture:
            await self._send(address, "sampleImageMsg", {"photoURL": id})
        else:
            await self._send(address, "sampleFile", {"mediaId": id, "fileName": file.name, "fileType": kind})

    async def _upload(self, file: OutgoingFile) -> str:
        """The id of a file ("上传媒体文件")."""
        url, sent = f"{self.options.session_base}/media/upload", {"media": (file.name, file.content, file.media_type)}

        async def ask(token: str) -> dict[str, Any]:
            params = {"access_token": token, "type": "image" if file.is_picture else "file"}
            told = await self.parts.client.call("POST", url, params=params, files=sent)
            if told.get("errcode") in EXPIRED:
                raise TokenExpired(str(told["errcode"]))
            _checked(told)
            return told

        id = (await self.parts.tokens.use(self.parts.name, self._token, ask)).get("media_id")
        if not isinstance(id, str) or not id:
            raise PlatformUnavailable("the response has no media_id")
        return id

    @staticmethod
    def _require_reachable(address: Address) -> None:
        """Raises PlatformRefused where the robot's own interface reaches nobody."""
        if not address["staff"] and not address["group"]:
            raise PlatformRefused("the customer is no member of the company, whom robots write to by the session alone")

    async def _send(self, address: Address, kind: str, content: Payload) -> None:
        self._require_reachable(address)
        body = {"robotCode": self.options.robot_code or self.options.app_key, "msgKey": kind}
        body |= {"msgParam": json.dumps(content, ensure_ascii=False)}
        if address["staff"] and not address["group"]:
            await self._call("/v1.0/robot/oToMessages/batchSend", body | {"userIds": [address["staff"]]})
        else:
            await self._call("/v1.0/robot/groupMessages/send", body | {"openConversationId": address["group"]})

    async def download(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel` ("下载机器人接收消息的文件内容")."""
        body = {"robotCode": self.options.robot_code or self.options.app_key, "downloadCode": media["code"]}
        url = (await self._call("/v1.0/robot/messageFiles/download", body)).get("downloadUrl")
        if not isinstance(url, str) or not url.startswith(("https://", f"{self.options.api_base}/")):
            raise PlatformRefused("the platform gives no file")
        content, _ = await self.parts.client.download("GET", url, most)
        return [MediaFile(media["name"], content)]

    async def _call(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        async def ask(token: str) -> dict[str, Any]:
            headers = {"x-acs-dingtalk-access-token": token}
            told = await self.parts.client.call(
                "POST", f"{self.options.api_base}{path}", headers=headers, json=body, codes=True
            )
            code = str(told.get("code", ""))
            if code == "InvalidAuthentication":
                raise TokenExpired(code)
            if "hrottl" in code or "limit" in code.lower():
                raise PlatformUnavailable(code)
            if code:
                raise PlatformRefused(f"{code} {str(told.get('message', ''))[:150]}")
            return told

        return await self.parts.tokens.use(self.parts.name, self._token, ask)

    async def _token(self) -> Fetched:
        options = self.options
        body = {"appKey": options.app_key, "appSecret": revealed(options.app_secret)}
        told = await self.parts.client.call("POST", f"{options.api_base}/v1.0/oauth2/accessToken", json=body)
        token, seconds = told.get("accessToken"), told.get("expireIn")
        if not isinstance(token, str) or not isinstance(seconds, int):
            raise PlatformUnavailable("the response has no token")
        return token, float(seconds)

    def _message(self, told: Mapping[str, Any]) -> InboundMessage:
        room, user, session = (required(told, name) for name in ("conversationId", "senderId", "sessionWebhook"))
        until, sent = required(told, "sessionWebhookExpiredTime", int), required(told, "createAt", int)
        if not (0 < sent < 10**14 and 0 < until < 10**14):
            raise unreadable()
        if not session.startswith(f"{self.options.session_base}/"):  # nobody has our replies sent elsewhere
            raise unreadable()
        kind, text = KINDS.get(required(told, "msgtype"), InboundKind.TEXT), told.get("text")
        content = text.get("content") if isinstance(text, dict) else ""
        spoken = told.get("content", {}).get("recognition") if isinstance(told.get("content"), dict) else None
        if kind is InboundKind.VOICE and isinstance(spoken, str) and spoken:  # the platform wrote down what was said
            kind, content = InboundKind.TEXT, spoken
        in_group = told.get("conversationType") == GROUP
        address: Address = {
            "session": session,
            "until": until / 1000,
            "staff": str(told.get("senderStaffId") or ""),
            "group": room if in_group else "",
        }
        moment = datetime.fromtimestamp(sent / 1000, UTC)
        peer = f"{room}:{user}"
        media = _media(kind, told.get("content"))
        words = str(content or "").strip()
        return InboundMessage(required(told, "msgId"), peer, words, address, moment, kind, user, media)


def _media(kind: InboundKind, content: object) -> Payload:
    code = content.get("downloadCode") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(code, str) or kind not in MEDIA_NAMES:
        return {}
    name = content.get("fileName")
    return {"code": code[:512], "name": name if isinstance(name, str) and name else MEDIA_NAMES[kind]}


def _checked(told: Mapping[str, Any]) -> None:
    code = told.get("errcode", 0)
    if code in BUSY:
        raise PlatformUnavailable(f"{code} {str(told.get('errmsg', ''))[:150]}", 60.0)
    if code:
        raise PlatformRefused(f"{code} {str(told.get('errmsg', ''))[:150]}")
