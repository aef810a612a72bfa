"""The common part of the interfaces of WeChat and WeCom: flat XML in, JSON out, `errcode` in every response."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from app.channels.base import Channel, build_unreadable_error
from app.channels.client import ErrorCodes, require_text
from app.channels.errors import PlatformRefused
from app.channels.types import MEDIA_NAMES, InboundKind, MediaFile, OutgoingFile

MAX_XML_BYTES = 64 * 1024
# A busy platform does not say how long to wait.
CODES = ErrorCodes(
    expired=frozenset({40001, 40014, 42001, 42009}), busy=frozenset({-1, 45009, 45011, 45033}), pause=60.0
)
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


class WechatApi:
    """Calls the interface for an account, with its access token."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._client = channel.parts.client
        self._base = channel.options.api_base

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
            return CODES.check_response(await self._client.request_json("POST", url, params=params, content=content))

        return await self._channel.run_with_token(send_with_token)

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
            return CODES.check_response(await self._client.request_json("POST", url, params=params, files=sent))

        return require_text(await self._channel.run_with_token(send_with_token), "media_id")

    async def download_media(self, media: Mapping[str, Any], most: int) -> Sequence[MediaFile]:
        """Downloads a temporary file ("获取临时素材"); see `Channel.download_media`."""
        url = f"{self._base}/cgi-bin/media/get"

        async def send_with_token(token: str) -> bytes:
            params = {"access_token": token, "media_id": media["id"]}
            content, kind = await self._client.download_file(url, most, params=params)
            if kind in ("application/json", "text/plain"):  # an error, or the address of a video
                CODES.check_response(json.loads(content))
                raise PlatformRefused("the platform gives no file")
            return content

        return [MediaFile(media["name"], await self._channel.run_with_token(send_with_token))]


def build_media(kind: InboundKind, id: object, name: object = "") -> dict[str, str]:
    """Returns what `WechatApi.download_media` needs to find a file; empty for none."""
    if not isinstance(id, str) or not id or kind not in MEDIA_NAMES:
        return {}
    return {"id": id[:512], "name": name if isinstance(name, str) and name else MEDIA_NAMES[kind]}
