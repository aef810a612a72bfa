"""What HTTP needs of the wiring, whatever is served by it: who calls, how much, and what goes to the audit log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fastapi import Request, Response

    from app.auth.principal import Principal
    from app.auth.user_token import UserTokens
    from app.http.unidentified_sockets import UnidentifiedSockets
    from app.limits.attempts import Attempts
    from app.limits.service import RateLimits
    from app.readiness import Readiness
    from app.settings import Settings
    from app.types import Proof, SessionKey


class Authenticator(Protocol):
    """See `app.keys.authenticator`."""

    async def authenticate(self, key: str | None, host: str | None, user_token: str = "") -> Principal: ...


class Keys(Protocol):
    """See `KeyRing`."""

    async def authenticate(self, key: str | None, host: str | None) -> Principal: ...

    async def is_keyless(self) -> bool: ...


class Access(Protocol):
    """See `app.conversations.access`."""

    async def require(self, key: SessionKey, proof: Proof) -> None: ...


class Audit(Protocol):
    """See `AuditLog`."""

    async def run_and_record(
        self, name: str, request: Request, work: Callable[[], Awaitable[Response]]
    ) -> Response: ...


class HttpParts(Protocol):
    """What every request or socket is let in by."""

    settings: Settings
    limits: RateLimits
    attempts: Attempts
    user_tokens: UserTokens
    unidentified_sockets: UnidentifiedSockets

    @property
    def authenticator(self) -> Authenticator: ...

    @property
    def keys(self) -> Keys: ...

    @property
    def access(self) -> Access: ...

    @property
    def audit(self) -> Audit: ...

    @property
    def startup(self) -> Readiness: ...
