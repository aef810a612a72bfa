"""What routes depend on. Every route says who may call it, by `TenantId`, `StaffTenant`, `AdminTenant` or `PUBLIC`."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from app.auth.identity import caller_of
from app.auth.principal import Role
from app.auth.sender import sender_of
from app.container import Container
from app.errors import Forbidden


class Allow(SecurityBase):
    """Lets callers with one of the roles through and gives their tenant. Raises Unauthorized, Forbidden, RateLimited.

    One dependency and not one upon another: each costs a chat request 25 µs.
    """

    model = HTTPBearer(description="密钥；也可以放在请求头 X-API-Key 里")
    scheme_name = "ApiKey"

    def __init__(self, *roles: Role, turns: bool = False) -> None:
        """turns: the requests are messages of customers, of which urgent ones are answered beyond all limits."""
        self.roles = frozenset(roles)
        self._turns = turns

    async def __call__(self, request: Request) -> str:
        """The key comes as `Authorization: Bearer KEY` or `X-API-Key: KEY`."""
        host = request.client.host if request.client else None
        container = current_container(request)
        principal = await container.keys.authenticate(_key(request), host)
        request.state.tenant = principal.tenant
        request.state.principal = principal
        count = container.limits.counted if self._turns else container.limits.take
        session_id = request.path_params.get("session_id", "")
        request.state.sender = await count(principal.tenant, sender_of(principal, host), session_id)
        if principal.roles.isdisjoint(self.roles):
            raise Forbidden("这个密钥的角色没有权限调用该接口", required=sorted(self.roles))
        return principal.tenant


def caller_from(request: Request, user_token: str, user_id: str) -> str:
    """The member who asks, for requests that `Allow` let through. Raises Unauthorized for a token that does not hold.

    The token comes in the body or as X-User-Token.
    """
    token = user_token or request.headers.get("x-user-token", "")
    container = current_container(request)
    with container.attempts.checking(request.state.sender.address or None, token or None):
        return caller_of(request.state.principal, container.user_tokens, token, user_id)


async def anyone() -> None:
    """Needs no key."""


def current_container(request: Request) -> Container:
    """The wiring of this process."""
    return cast(Container, request.app.state.container)


async def wiring(request: Request) -> Container:
    """The same as a dependency; a coroutine, because FastAPI runs plain functions in a thread."""
    return current_container(request)


def _key(request: Request) -> str | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    return request.headers.get("x-api-key")


TenantId = Annotated[str, Depends(Allow(*Role))]
"""The caller's tenant, whatever the caller's role."""
TurnTenant = Annotated[str, Depends(Allow(*Role, turns=True))]
"""The same for messages of customers."""
StaffTenant = Annotated[str, Depends(Allow(Role.ADMIN, Role.AGENT))]
AdminTenant = Annotated[str, Depends(Allow(Role.ADMIN))]
PUBLIC = Depends(anyone)
Wiring = Annotated[Container, Depends(wiring)]
