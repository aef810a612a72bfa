"""The vocabulary of requests that may be sent twice."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from datetime import timedelta

# How long a request is remembered.
LIFETIME = timedelta(hours=24)
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class RetryKey:
    """What one request is known by, in its tenant. secret: as the client sent it; digest: with whoever sent it, to
    where and by what proof, which is what is kept; body: the digest of what was asked.
    """

    tenant: str
    digest: str
    body: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeptResponse:
    """A result. token: the session's secret that it issues, which is not kept as it is; written: it was kept by the
    transaction that did the work.
    """

    status: int
    body: bytes
    token: str = field(default="", repr=False)
    session_id: str = ""
    written: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """A result as it is kept. owner: the attempt that it belongs to; sealed: the token under a pad."""

    tenant: str
    digest: str
    owner: str
    status: int
    body: bytes
    sealed: bytes
    session_id: str


def apply_pad(secret: str, nonce: str, token: bytes) -> bytes:
    """A token under a pad that only the client's own key opens, and back again: tables hold no secrets of sessions.

    The pad is an HMAC-SHA-512 (RFC 2104) over a nonce that is used once; a token is shorter than the 64 bytes.
    """
    pad = hmac.digest(secret.encode(), nonce.encode(), hashlib.sha512)
    if len(token) > len(pad):
        raise ValueError("the token is longer than the pad")
    return bytes(left ^ right for left, right in zip(token, pad, strict=False))
