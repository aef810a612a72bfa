"""Whom a request is counted for, by the key that it came with."""

from __future__ import annotations

from functools import lru_cache

from app.auth.principal import STAFF, Principal, Role
from app.limits.types import NOBODY, Requester, normalize_address


def build_sender(principal: Principal, host: str | None) -> Requester:
    """Builds the sender of a request that was authenticated. host: its address."""
    return _build_sender(principal.key, principal.roles, host or "") if principal.key else NOBODY


@lru_cache(maxsize=4096)
def _build_sender(key: str, roles: frozenset[Role], host: str) -> Requester:
    staff = not roles.isdisjoint(STAFF)
    server = not staff and Role.SERVER in roles
    return Requester(
        key, normalize_address(host) if Role.CLIENT in roles and not (staff or server) else "", server, staff
    )
