"""The ciphers and signatures that platforms share: WeChat and WeCom have one, Feishu has another.

After their public documentation: "消息加解密说明" of WeChat and WeCom, "配置 Encrypt Key" of Feishu.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import struct
from importlib.util import find_spec

from app.channels.base import unreadable
from knowledge.errors import InvalidConfiguration, MissingDependency

_BLOCK = 32
"""Bytes that WeChat pads to; the cipher's own block has 16."""


def require_cryptography(channel: str) -> None:
    """Raises MissingDependency, naming what to install."""
    if find_spec("cryptography") is None:
        raise MissingDependency(
            f"渠道 {channel} 的消息是加密的，需要 cryptography 包：pip install cryptography==50.0.2"
        )


def sorted_sha1(*parts: str) -> str:
    """WeChat's signature: of the parts in alphabetical order, as hex."""
    return hashlib.sha1("".join(sorted(parts)).encode(), usedforsecurity=False).hexdigest()


def same(shown: str, wanted: str) -> bool:
    """Whether two signatures are one, in time that tells nothing."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), wanted.encode())


class WechatCipher:
    """AES-256-CBC as WeChat and WeCom use it. owner: the id that messages are for, empty for none."""

    def __init__(self, encoding_key: str, owner: str, name: str) -> None:
        """encoding_key: EncodingAESKey, 43 characters; name: of the account. Raises InvalidConfiguration,
        MissingDependency.
        """
        require_cryptography(name)
        try:
            self._key = base64.b64decode(encoding_key + "=", validate=True)
        except (binascii.Error, ValueError) as error:
            raise _wrong_key(name) from error
        if len(self._key) != 32:
            raise _wrong_key(name)
        self._owner = owner.encode()

    def decrypt(self, text: str) -> bytes:
        """The message within base64. Raises InvalidRequest."""
        plain = _aes_decrypt(self._key, self._key[:16], _decoded(text), _BLOCK)
        if len(plain) < 20:
            raise unreadable()
        (length,) = struct.unpack("!I", plain[16:20])
        message, owner = plain[20 : 20 + length], plain[20 + length :]
        if len(message) != length or not hmac.compare_digest(owner, self._owner):
            raise unreadable()
        return message

    def encrypt(self, message: bytes) -> str:
        """The same the other way round."""
        plain = secrets.token_bytes(16) + struct.pack("!I", len(message)) + message + self._owner
        return base64.b64encode(_aes_encrypt(self._key, self._key[:16], plain, _BLOCK)).decode()


def feishu_decrypt(key: str, text: str) -> bytes:
    """AES-256-CBC under the SHA-256 of Encrypt Key, behind its initial vector. Raises InvalidRequest."""
    data = _decoded(text)
    return _aes_decrypt(hashlib.sha256(key.encode()).digest(), data[:16], data[16:], 16)


def feishu_encrypt(key: str, message: bytes) -> str:
    """The same the other way round, as the platform does it."""
    start = secrets.token_bytes(16)
    return base64.b64encode(start + _aes_encrypt(hashlib.sha256(key.encode()).digest(), start, message, 16)).decode()


def _aes_decrypt(key: bytes, start: bytes, data: bytes, block: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % 16 or len(start) != 16:
        raise unreadable()
    cipher = Cipher(algorithms.AES(key), modes.CBC(start)).decryptor()
    plain = cipher.update(data) + cipher.finalize()
    padding = plain[-1]
    if not 1 <= padding <= block or padding > len(plain) or plain[-padding:] != bytes([padding]) * padding:
        raise unreadable()
    return plain[:-padding]


def _aes_encrypt(key: bytes, start: bytes, plain: bytes, block: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    padding = block - len(plain) % block
    cipher = Cipher(algorithms.AES(key), modes.CBC(start)).encryptor()
    return cipher.update(plain + bytes([padding]) * padding) + cipher.finalize()


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise unreadable() from error


def _wrong_key(name: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"CHANNELS 里 {name} 的 encoding_aes_key 不对：应是平台给的 43 个字符")
