"""The common part of the interfaces of WeChat and WeCom: flat XML in, JSON out, `errcode` in every response."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from app.channels.base import ChannelParts, build_unreadable_error
from app.channels.errors import PlatformRefused, PlatformUnavailable, TokenExpired
from app.channels.tokens import FetchedToken
from app.channels.types import MEDIA_NAMES, InboundKind, MediaFile, OutgoingFile

MAX_XML_BYTES = 64 * 1024
# Codes of the platform: the token has expired, or another one took its place.
EXPIRED = frozenset({40001, 40014, 42001, 42009})
# Codes of the platform: too many requests.
BUSY = frozenset({-1, 45009, 45011, 45033})
# The pause after such a code: these responses do not say how long to wait.
BUSY_SECONDS = 60.0
KINDS = {
    "text": InboundKind.TEXT,
    "image": InboundKind.IMAGE,
    "voice": InboundKind.VOICE,
    "video": InboundKind.FILE,
    "shortvideo": InboundKind.FILE,
    "file": InboundKind.FILE,
    "location": InboundKind.FILE,
    "link": InboundKind.FILE,
}


def read_fields(body: bytes) -> dict[str, str]:
    """Returns the top-level fields of a message. Raises InvalidRequest."""
    if len(body) > MAX_XML_BYTES or b"<!" in body.replace(b"<![CDATA[", b""):  # no document types, so no entities
        raise build_unreadable_error()
    try:
        root = ElementTree.fromstring(body)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise build_unreadable_error() from error
    return {child.tag: child.text or "" for child in root}


def write_fields(fields: Mapping[str, str | int]) -> bytes:
    """Returns fields as an XML message."""
    root = ElementTree.Element("xml")
    for name, value in fields.items():
        ElementTree.SubElement(root, name).text = str(value)
    written: bytes = ElementTree.tostring(root, encoding="utf-8")
    return written


def parse_sent_at(fields: Mapping[str, str]) -> datetime:
    """Returns the time in CreateTime. Raises InvalidRequest."""
    text = fields.get("CreateTime", "")
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise build_unreadable_error()
    return datetime.fromtimestamp(int(text), UTC)


class WechatApi:
    """Calls the interface with an access token. fetch: fetches one."""

    def __init__(self, parts: ChannelParts, base: str, fetch: Callable[[], Awaitable[FetchedToken]]) -> None:
        self._parts = parts
        self._base = base
        self._fetch = fetch

    async def call_api(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Posts JSON, without escapes, since the platform shows them literally.

        Args:
            path: The path of the interface.
            body: The body.

        Returns:
            The response.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed.
        """
        content = json.dumps(body, ensure_ascii=False).encode()

        async def send_with_token(token: str) -> dict[str, Any]:
            url, params = f"{self._base}{path}", {"access_token": token}
            return check_response(await self._parts.client.request_json("POST", url, params=params, content=content))

        return await self._parts.tokens.run_with_token(self._parts.name, self._fetch, send_with_token)

    async def upload_file(self, file: OutgoingFile, kind: str) -> str:
        """Uploads a temporary file ("新增临时素材").

        Args:
            file: The file.
            kind: `image` or `file`.

        Returns:
            The id of the file.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed.
        """
        url, sent = f"{self._base}/cgi-bin/media/upload", {"media": (file.name, file.content, file.media_type)}

        async def send_with_token(token: str) -> dict[str, Any]:
            params = {"access_token": token, "type": kind}
            return check_response(await self._parts.client.request_json("POST", url, params=params, files=sent))

        id = (await self._parts.tokens.run_with_token(self._parts.name, self._fetch, send_with_token)).get("media_id")
        if not isinstance(id, str) or not id:
            raise PlatformUnavailable("the response has no media_id")
        return id

    async def download_media(self, media: Mapping[str, Any], most: int) -> Sequence[MediaFile]:
        """Downloads a temporary file ("获取临时素材"); see `Channel.download_media`."""
        url = f"{self._base}/cgi-bin/media/get"

        async def send_with_token(token: str) -> bytes:
            params = {"access_token": token, "media_id": media["id"]}
            content, kind = await self._parts.client.download_file(url, most, params=params)
            if kind in ("application/json", "text/plain"):  # an error, or the address of a video
                check_response(json.loads(content))
                raise PlatformRefused("the platform gives no file")
            return content

        return [
            MediaFile(
                media["name"], await self._parts.tokens.run_with_token(self._parts.name, self._fetch, send_with_token)
            )
        ]


def build_media(kind: InboundKind, id: object, name: object = "") -> dict[str, str]:
    """Returns what `WechatApi.download_media` needs to find a file; empty for none."""
    if not isinstance(id, str) or not id or kind not in MEDIA_NAMES:
        return {}
    return {"id": id[:512], "name": name if isinstance(name, str) and name else MEDIA_NAMES[kind]}


def check_response(data: dict[str, Any]) -> dict[str, Any]:
    """Returns a successful response. Raises PlatformUnavailable, PlatformRefused."""
    code = data.get("errcode", 0)
    if code == 0:
        return data
    message = f"{code} {str(data.get('errmsg', ''))[:150]}"
    if code in EXPIRED:
        raise TokenExpired(message)
    if code in BUSY:
        raise PlatformUnavailable(message, BUSY_SECONDS)
    raise PlatformRefused(message)


def read_token(data: dict[str, Any]) -> FetchedToken:
    """Returns the token in a response. Raises PlatformUnavailable, PlatformRefused."""
    check_response(data)
    token, seconds = data.get("access_token"), data.get("expires_in")
    if not isinstance(token, str) or not token or not isinstance(seconds, int):
        raise PlatformUnavailable("the response has no token")
    return token, float(seconds)
