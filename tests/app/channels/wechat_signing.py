"""Requests as WeChat and WeCom send them, written after their documentation and not after the product's own code."""

from __future__ import annotations

import base64
import hashlib
import os
import struct
from datetime import datetime

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from app.channels.types import CallbackRequest

TOKEN, KEY = "QDG6eK", "jWmYm7qr5nMoAUwZRjGtBxmz3KA1tkAj3ykkR6q2B2C"
NONCE = "1372623149"


def xml(**fields: object) -> bytes:
    inner = "".join(f"<{name}><![CDATA[{value}]]></{name}>" for name, value in fields.items())
    return f"<xml>{inner}</xml>".encode()


def sha1(*parts: str) -> str:
    return hashlib.sha1("".join(sorted(parts)).encode()).hexdigest()


def encrypt(message: bytes, owner: str, key: str = KEY) -> str:
    raw = base64.b64decode(key + "=")
    plain = os.urandom(16) + struct.pack(">I", len(message)) + message + owner.encode()
    padding = 32 - len(plain) % 32
    cipher = Cipher(algorithms.AES(raw), modes.CBC(raw[:16])).encryptor()
    return base64.b64encode(cipher.update(plain + bytes([padding]) * padding) + cipher.finalize()).decode()


def decrypt(text: str, key: str = KEY) -> tuple[bytes, str]:
    raw = base64.b64decode(key + "=")
    cipher = Cipher(algorithms.AES(raw), modes.CBC(raw[:16])).decryptor()
    plain = cipher.update(base64.b64decode(text)) + cipher.finalize()
    plain = plain[: -plain[-1]]
    length = struct.unpack(">I", plain[16:20])[0]
    return plain[20 : 20 + length], plain[20 + length :].decode()


def encrypted_request(message: bytes, owner: str, moment: datetime) -> CallbackRequest:
    """A POST in the encrypted mode."""
    text, timestamp = encrypt(message, owner), str(int(moment.timestamp()))
    query = {
        "signature": sha1(TOKEN, timestamp, NONCE),
        "msg_signature": sha1(TOKEN, timestamp, NONCE, text),
        "timestamp": timestamp,
        "nonce": NONCE,
    }
    return CallbackRequest("POST", query, {}, xml(ToUserName=owner, Encrypt=text), moment)


def encrypted_verification(word: bytes, owner: str, moment: datetime) -> CallbackRequest:
    """The GET by which WeCom verifies an address."""
    text, timestamp = encrypt(word, owner), str(int(moment.timestamp()))
    query = {"msg_signature": sha1(TOKEN, timestamp, NONCE, text), "timestamp": timestamp, "nonce": NONCE}
    return CallbackRequest("GET", query | {"echostr": text}, {}, b"", moment)
