"""What the interfaces of WeChat and WeCom have in common: flat XML in, JSON out, `errcode` in every response."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree

from app.channels.base import ChannelParts, unreadable
from app.channels.errors import PlatformRefused, PlatformUnavailable, TokenExpired
from app.channels.tokens import Fetched
from app.channels.types import MEDIA_NAMES, InboundKind, MediaFile, OutgoingFile

MAX_XML_BYTES = 64 * 1024
EXPIRED = frozenset({40001, 40014, 42001, 42009})
BUSY = frozenset({-1, 45009, 45011, 45033})
"""Codes of the platform: it has enough for now."""
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
    """The fields of a message, which are not nested where we need them. Raises InvalidRequest."""
    if len(body) > MAX_XML_BYTES or b"<!" in body.replace(b"<![CDATA[", b""):  # no document types, so no entities
        raise unreadable()
    try:
        root = ElementTree.fromstring(body)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise unreadable() from error
    return {child.tag: child.text or "" for child in root}


def write_fields(fields: Mapping[str, str | int]) -> bytes:
    """The same the other way round."""
    root = ElementTree.Element("xml")
    for name, value in fields.items():
        ElementTree.SubElement(root, name).text = str(value)
    written: bytes = ElementTree.tostring(root, encoding="utf-8")
    return written


def sent_at(fields: Mapping[str, str]) -> datetime:
    """CreateTime. Raises InvalidRequest."""
    text = fields.get("CreateTime", "")
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise unreadable()
    return datetime.fromtimestamp(int(text), UTC)


class WechatApi:
    """Calls with an access token. fetch: gets one."""

    def __init__(self, parts: ChannelParts, base: str, fetch: Callable[[], Awaitable[Fetched]]) -> None:
        self._parts = parts
        self._base = base
        self._fetch = fetch

    async def call(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Raises PlatformUnavailable, PlatformRefused. The platform shows escapes as they are, so there are none."""
        content = json.dumps(body, ensure_ascii=False).encode()

        async def ask(token: str) -> dict[str, Any]:
            url, params = f"{self._base}{path}", {"access_token": token}
            return checked(await self._parts.client.call("POST", url, params=params, content=content))

        return await self._parts.tokens.use(self._parts.name, self._fetch, ask)

    async def upload(self, file: OutgoingFile, kind: str) -> str:
        """The id of a temporary file ("新增临时素材"). kind: `image`, `file`. Raises PlatformUnavailable,
        PlatformRefused.
        """
        url, sent = f"{self._base}/cgi-bin/media/upload", {"media": (file.name, file.content, file.media_type)}

        async def ask(token: str) -> dict[str, Any]:
            params = {"access_token": token, "type": kind}
            return checked(await self._parts.client.call("POST", url, params=params, files=sent))

        id = (await self._parts.tokens.use(self._parts.name, self._fetch, ask)).get("media_id")
        if not isinstance(id, str) or not id:
            raise PlatformUnavailable("the response has no media_id")
        return id

    async def media(self, media: Mapping[str, Any], most: int) -> Sequence[MediaFile]:
        """A temporary file ("获取临时素材"). Raises PlatformUnavailable, PlatformRefused."""
        url = f"{self._base}/cgi-bin/media/get"

        async def ask(token: str) -> bytes:
            params = {"access_token": token, "media_id": media["id"]}
            content, kind = await self._parts.client.download("GET", url, most, params=params)
            if kind in ("application/json", "text/plain"):  # an error, or the address of a video
                checked(json.loads(content))
                raise PlatformRefused("the platform gives no file")
            return content

        return [MediaFile(media["name"], await self._parts.tokens.use(self._parts.name, self._fetch, ask))]


def media_of(kind: InboundKind, id: object, name: object = "") -> dict[str, str]:
    """By what `WechatApi.media` finds a file; empty for none."""
    if not isinstance(id, str) or not id or kind not in MEDIA_NAMES:
        return {}
    return {"id": id[:512], "name": name if isinstance(name, str) and name else MEDIA_NAMES[kind]}


def checked(told: dict[str, Any]) -> dict[str, Any]:
    """A response that says that all is well. Raises PlatformUnavailable, PlatformRefused."""
    code = told.get("errcode", 0)
    if code == 0:
        return told
    message = f"{code} {str(told.get('errmsg', ''))[:150]}"
    if code in EXPIRED:
        raise TokenExpired(message)
    if code in BUSY:
        raise PlatformUnavailable(message, BUSY_SECONDS)
    raise PlatformRefused(message)


def fetched(told: dict[str, Any]) -> Fetched:
    """A token out of a response. Raises PlatformUnavailable, PlatformRefused."""
    checked(told)
    token, seconds = told.get("access_token"), told.get("expires_in")
    if not isinstance(token, str) or not token or not isinstance(seconds, int):
        raise PlatformUnavailable("the response has no token")
    return token, float(seconds)
