"""The signed and encrypted callbacks of Tencent's platforms: WeChat accounts, and applications, customer service and
smart robots of WeCom.

After "消息加解密说明": a signature over token, time, nonce and ciphertext in the query, the ciphertext in the body.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, SecretStr

from app.channels.base import (
    Channel,
    ChannelOptions,
    ChannelParts,
    build_signature_error,
    read_token,
    require_fresh,
    require_small,
    reveal_secret,
)
from app.channels.crypto import WechatCipher, hash_sorted_parts, is_same_signature
from app.channels.tokens import FetchedToken
from app.channels.types import CallbackRequest, CallbackResult, MediaFile, OutgoingFile, Payload
from app.channels.wechat_api import CODES, WechatApi, read_fields

# Limits of WeCom for a picture and for a file.
MAX_PICTURE_BYTES, MAX_FILE_BYTES = 10 * 1024 * 1024, 20 * 1024 * 1024


class EncryptedOptions(ChannelOptions):
    """The options of a signed and encrypted callback."""

    token: SecretStr = Field(min_length=1, max_length=32)
    encoding_aes_key: SecretStr = Field(min_length=43, max_length=43)
    api_base: str = Field("https://qyapi.weixin.qq.com", pattern=r"^https?://[^/\s]+$")


class EncryptedChannel(Channel):
    """Decrypts callbacks; subclasses read their messages.

    cipher: None if the account has no key; its channel has to check requests itself.
    """

    cipher: WechatCipher | None

    def __init__(self, options: Any, parts: ChannelParts, owner: str = "") -> None:
        """owner: the id that messages are for, empty for none. Raises InvalidConfiguration, MissingDependency."""
        super().__init__(options, parts)
        key = reveal_secret(options.encoding_aes_key)
        self.cipher = WechatCipher(key, owner, parts.name) if key else None
        self.proves_users = self.cipher is not None

    async def receive_request(self, request: CallbackRequest) -> CallbackResult:
        """See `Channel`."""
        opened = self.open_request(request)
        return CallbackResult(opened) if request.method == "GET" else self.read_message(opened, request)

    @abstractmethod
    def read_message(self, opened: bytes, request: CallbackRequest) -> CallbackResult:
        """Reads a decrypted message.

        Args:
            opened: The message.
            request: The request that it came in.

        Returns:
            The messages in it, and the response.

        Raises:
            InvalidRequest: It cannot be read.
        """

    def open_request(self, request: CallbackRequest) -> bytes:
        """Returns the response to a GET, or the decrypted message of a POST. Raises Forbidden, InvalidRequest."""
        query, is_probe = request.query, request.method == "GET"
        text = query.get("echostr", "") if is_probe else self.find_ciphertext(request.body)
        timestamp = query.get("timestamp", "")
        wanted = hash_sorted_parts(reveal_secret(self.options.token), timestamp, query.get("nonce", ""), text)
        if not text or self.cipher is None or not is_same_signature(query.get("msg_signature", ""), wanted):
            raise build_signature_error()
        require_fresh(timestamp, request.moment)
        return self.cipher.decrypt_message(text)

    def find_ciphertext(self, body: bytes) -> str:
        """Returns the ciphertext in a body, empty if there is none. Raises InvalidRequest."""
        return read_fields(body).get("Encrypt", "")

    def seal_response(self, message: bytes, request: CallbackRequest) -> dict[str, str]:
        """Encrypts and signs the response to a request, and returns its fields."""
        assert self.cipher is not None
        timestamp, nonce = request.query["timestamp"], request.query.get("nonce", "")
        encrypted = self.cipher.encrypt_message(message)
        signature = hash_sorted_parts(reveal_secret(self.options.token), timestamp, nonce, encrypted)
        return {"Encrypt": encrypted, "MsgSignature": signature, "TimeStamp": timestamp, "Nonce": nonce}


class CorpOptions(EncryptedOptions):
    """The options of a company's application on WeCom."""

    corp_id: str = Field(min_length=1, max_length=64)
    secret: SecretStr = Field(min_length=1)


class CorpChannel(EncryptedChannel):
    """A channel that sends by the interface of WeCom."""

    has_token: ClassVar[bool] = True

    def __init__(self, options: Any, parts: ChannelParts) -> None:
        super().__init__(options, parts, options.corp_id)
        self.api = WechatApi(self)

    async def download_media(self, media: Payload, most: int) -> Sequence[MediaFile]:
        """See `Channel`."""
        return await self.api.download_media(media, most)

    async def build_file_message(self, file: OutgoingFile) -> Payload:
        """Uploads a file and returns the message that shows it. Raises PlatformUnavailable, PlatformRefused."""
        kind = "image" if file.is_picture and len(file.content) <= MAX_PICTURE_BYTES else "file"
        require_small(file, MAX_FILE_BYTES)
        return {"msgtype": kind, kind: {"media_id": await self.api.upload_file(file, kind)}}

    async def fetch_token(self) -> FetchedToken:
        """See `Channel`."""
        params = {"corpid": self.options.corp_id, "corpsecret": reveal_secret(self.options.secret)}
        url = f"{self.options.api_base}/cgi-bin/gettoken"
        data = CODES.check_response(await self.parts.client.request_json("GET", url, params=params))
        return read_token(data, "access_token", "expires_in")
