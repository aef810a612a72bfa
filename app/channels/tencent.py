"""The signed and encrypted callbacks of Tencent's platforms: WeChat accounts, and applications, customer service and
smart robots of WeCom.

After "消息加解密说明": a signature over token, time, nonce and ciphertext in the query, the ciphertext in the body.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from app.channels.base import Channel, ChannelOptions, ChannelParts, require_fresh, require_small, revealed, unsigned
from app.channels.crypto import WechatCipher, same, sorted_sha1
from app.channels.tokens import Fetched
from app.channels.types import CallbackRequest, CallbackResult, MediaFile, OutgoingFile, Payload
from app.channels.wechat_api import WechatApi, fetched, read_fields

MAX_PICTURE_BYTES, MAX_FILE_BYTES = 10 * 1024 * 1024, 20 * 1024 * 1024
"""Of what WeCom takes as a picture, and as a file."""


class EncryptedOptions(ChannelOptions):
    """What the callback of an account is opened with."""

    token: SecretStr = Field(min_length=1, max_length=32)
    encoding_aes_key: SecretStr = Field(min_length=43, max_length=43)
    api_base: str = Field("https://qyapi.weixin.qq.com", pattern=r"^https?://[^/\s]+$")


class EncryptedChannel(Channel):
    """Opens callbacks; subclasses read what stands in them.

    cipher: None where an account has no key, whose channel has to check requests itself.
    """

    cipher: WechatCipher | None

    def __init__(self, options: Any, parts: ChannelParts, owner: str = "") -> None:
        """owner: the id that messages are for, empty for none. Raises InvalidConfiguration, MissingDependency."""
        super().__init__(options, parts)
        key = revealed(options.encoding_aes_key)
        self.cipher = WechatCipher(key, owner, parts.name) if key else None
        self.proves_users = self.cipher is not None

    async def receive(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`."""
        opened = self.open_request(request)
        return CallbackResult(opened) if request.method == "GET" else self.read_message(opened, request)

    @abstractmethod
    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """What came of a message that was signed. Raises InvalidRequest."""

    def open_request(self, request: CallbackRequest) -> bytes:
        """What a GET is to be answered with, or the message of a POST. Raises Forbidden, InvalidRequest."""
        query, is_probe = request.query, request.method == "GET"
        text = query.get("echostr", "") if is_probe else self.find_ciphertext(request.body)
        timestamp = query.get("timestamp", "")
        wanted = sorted_sha1(revealed(self.options.token), timestamp, query.get("nonce", ""), text)
        if not text or self.cipher is None or not same(query.get("msg_signature", ""), wanted):
            raise unsigned()
        require_fresh(timestamp, request.moment)
        return self.cipher.decrypt(text)

    def find_ciphertext(self, body: bytes) -> str:
        """Where a body has its ciphertext, empty where it has none. Raises InvalidRequest."""
        return read_fields(body).get("Encrypt", "")

    def seal_response(self, message: bytes, request: CallbackRequest) -> dict[str, str]:
        """The fields of the response to a request that was opened."""
        assert self.cipher is not None
        timestamp, nonce = request.query["timestamp"], request.query.get("nonce", "")
        encrypted = self.cipher.encrypt(message)
        signature = sorted_sha1(revealed(self.options.token), timestamp, nonce, encrypted)
        return {"Encrypt": encrypted, "MsgSignature": signature, "TimeStamp": timestamp, "Nonce": nonce}


class CorpOptions(EncryptedOptions):
    """Of an application of a company on WeCom."""

    corp_id: str = Field(min_length=1, max_length=64)
    secret: SecretStr = Field(min_length=1)


class CorpChannel(EncryptedChannel):
    """One that sends by the interface of WeCom."""

    has_token: ClassVar[bool] = True

    def __init__(self, options: Any, parts: ChannelParts) -> None:
        super().__init__(options, parts, options.corp_id)
        self.api = WechatApi(parts, options.api_base, self._fetch_token)

    async def download(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel`."""
        return await self.api.media(media, most)

    async def upload_file(self, file: OutgoingFile) -> Payload:
        """The message that shows a file. Raises PlatformUnavailable, PlatformRefused."""
        kind = "image" if file.is_picture and len(file.content) <= MAX_PICTURE_BYTES else "file"
        require_small(file, MAX_FILE_BYTES)
        return {"msgtype": kind, kind: {"media_id": await self.api.upload(file, kind)}}

    async def _fetch_token(self) -> Fetched:
        params = {"corpid": self.options.corp_id, "corpsecret": revealed(self.options.secret)}
        url = f"{self.options.api_base}/cgi-bin/gettoken"
        return fetched(await self.parts.client.call("GET", url, params=params))
