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

from app.channels.base import build_unreadable_error
from knowledge.errors import InvalidConfiguration, MissingDependency

# Block size of WeChat's padding; the cipher's own block has 16 bytes.
_BLOCK = 32


def require_cryptography(channel: str) -> None:
    """Raises MissingDependency, naming what to install."""
    if find_spec("cryptography") is None:
        raise MissingDependency(
            f"渠道 {channel} 的消息是加密的，需要 cryptography 包：pip install cryptography==50.0.2"
        )


def hash_sorted_parts(*parts: str) -> str:
    """Returns WeChat's signature as hex: the SHA-1 of the parts in alphabetical order."""
    return hashlib.sha1("".join(sorted(parts)).encode(), usedforsecurity=False).hexdigest()


def is_same_signature(shown: str, wanted: str) -> bool:
    """Whether two signatures are equal, compared in constant time."""
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
            raise _build_key_error(name) from error
        if len(self._key) != 32:
            raise _build_key_error(name)
        self._owner = owner.encode()

    def decrypt_message(self, text: str) -> bytes:
        """Returns the message in a base64 ciphertext. Raises InvalidRequest."""
        plain = _decrypt_aes(self._key, self._key[:16], _decode_base64(text), _BLOCK)
        if len(plain) < 20:
            raise build_unreadable_error()
        (length,) = struct.unpack("!I", plain[16:20])
        message, owner = plain[20 : 20 + length], plain[20 + length :]
        if len(message) != length or not hmac.compare_digest(owner, self._owner):
            raise build_unreadable_error()
        return message

    def encrypt_message(self, message: bytes) -> str:
        """Returns a message as base64 ciphertext."""
        plain = secrets.token_bytes(16) + struct.pack("!I", len(message)) + message + self._owner
        return base64.b64encode(_encrypt_aes(self._key, self._key[:16], plain, _BLOCK)).decode()


def decrypt_feishu(key: str, text: str) -> bytes:
    """Decrypts AES-256-CBC with the SHA-256 of Encrypt Key as key.

    Args:
        key: Encrypt Key.
        text: The initialization vector and the ciphertext, in base64.

    Returns:
        The message.

    Raises:
        InvalidRequest: It cannot be decrypted.
    """
    data = _decode_base64(text)
    return _decrypt_aes(hashlib.sha256(key.encode()).digest(), data[:16], data[16:], 16)


def _decrypt_aes(key: bytes, start: bytes, data: bytes, block: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % 16 or len(start) != 16:
        raise build_unreadable_error()
    cipher = Cipher(algorithms.AES(key), modes.CBC(start)).decryptor()
    plain = cipher.update(data) + cipher.finalize()
    padding = plain[-1]
    if not 1 <= padding <= block or padding > len(plain) or plain[-padding:] != bytes([padding]) * padding:
        raise build_unreadable_error()
    return plain[:-padding]


def _encrypt_aes(key: bytes, start: bytes, plain: bytes, block: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    padding = block - len(plain) % block
    cipher = Cipher(algorithms.AES(key), modes.CBC(start)).encryptor()
    return cipher.update(plain + bytes([padding]) * padding) + cipher.finalize()


def _decode_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise build_unreadable_error() from error


def _build_key_error(name: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"CHANNELS 里 {name} 的 encoding_aes_key 不对：应是平台给的 43 个字符")
