"""The vocabulary of requests that may be sent twice."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    """The result of the attempt that is known as `owner`, to be kept."""

    key: RetryKey
    owner: str
    reply: KeptResponse
