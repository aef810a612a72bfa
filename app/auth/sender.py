"""Whom a request is counted for, by the key that it came with."""

from __future__ import annotations

from app.auth.principal import STAFF, Principal, Role
from app.limits.types import NOBODY, Requester, normalize_address


def build_sender(principal: Principal, host: str | None) -> Requester:
    """Builds the sender of a request that was authenticated. host: its address."""
    if not principal.key:
        return NOBODY
    staff = not principal.roles.isdisjoint(STAFF)
    server = not staff and Role.SERVER in principal.roles
    # A key that lies in web pages is everybody's: what counts there is who uses it, as far as the address tells.
    shared = Role.CLIENT in principal.roles and not (staff or server)
    return Requester(principal.key, normalize_address(host or "") if shared else "", server, staff)
