"""The vocabulary of whose a conversation is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose a conversation is, as it is stored: the first member who was proved, and the digest of the session's
    secret, which counts until `expires`. Empty for nobody, and for none.
    """

    caller: str = ""
    digest: str = ""
    expires: datetime | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation that was opened ahead of its first turn. token: its secret, which counts until `expires`, and
    longer where it is used.
    """

    session_id: str
    token: str = field(repr=False)
    expires: datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """On what ground something is written into a conversation: looked at before, and again by the transaction.

    `shown` is the digest of the secret that was shown. `issued` is the secret that comes into being with what is
    written, and `digest` what is stored of it. `expires`: until when a secret of now counts. `first`: nobody had the
    conversation when it was looked at; `sure`: nor can anybody meanwhile, since the id was made for this. `found`: the
    conversation was read and is there.
    """

    caller: str = ""
    shown: str = ""
    trusted: bool = True
    issued: str = field(default="", repr=False)
    digest: str = ""
    expires: datetime | None = None
    first: bool = False
    sure: bool = False
    found: bool = False

    @property
    def settled(self) -> bool:
        """Whether the transaction has nothing to look at: nobody else can have it, or nobody in particular asks."""
        return self.sure or (self.trusted and not self.caller)
