"""What routes depend on."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from app.auth.principal import LOOPBACK, Principal
from app.container import Container


def current_principal(request: Request) -> Principal:
    """The caller. Without keys the server listens on loopback only, and loopback has every role."""
    request.state.tenant = LOOPBACK.tenant
    return LOOPBACK


def current_tenant(principal: Annotated[Principal, Depends(current_principal)]) -> str:
    """The caller's tenant."""
    return principal.tenant


def current_container(request: Request) -> Container:
    """The wiring of this process."""
    return cast(Container, request.app.state.container)


TenantId = Annotated[str, Depends(current_tenant)]
Wiring = Annotated[Container, Depends(current_container)]
