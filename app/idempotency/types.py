"""The vocabulary of requests that may be sent twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

_LONGEST_MESSAGE_ID = 64


@dataclass(frozen=True, slots=True)
class RetryKey:
    """What one request is known by, in its tenant. secret: as the client sent it; digest: with whoever sent it, to
    where and by what proof, which is what is kept; body: the digest of what was asked.
    """

    tenant: str
    digest: str
    body: str
    secret: str = field(repr=False)

    @property
    def message_id(self) -> str:
        """The same as the sender's own id of a message, by which the human desk keeps one that is sent twice once."""
        short = len(self.secret) <= _LONGEST_MESSAGE_ID
        return self.secret if short else hashlib.sha256(self.secret.encode()).hexdigest()


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

    @property
    def full_body(self) -> bytes:
        """The body as whoever asked gets it: a JSON object with the session's secret as its last field."""
        return b'%s,"session_token":"%s"}' % (self.body[:-1], self.token.encode()) if self.token else self.body


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of the attempt that is known as `owner`, to be kept."""

    key: RetryKey
    owner: str
    reply: KeptResponse
