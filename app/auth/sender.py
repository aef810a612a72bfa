"""Whom a request is counted for, by the key that it came with."""

from __future__ import annotations

from app.auth.principal import Principal, Role
from app.limits.types import NOBODY, Sender, network


def sender_of(principal: Principal, host: str | None) -> Sender:
    """The sender of a request that was authenticated. host: its address."""
    if not principal.key:
        return NOBODY
    staff = not principal.roles.isdisjoint((Role.ADMIN, Role.AGENT))
    server = not staff and Role.SERVER in principal.roles
    return Sender(principal.key, "" if staff or server else network(host or ""), server, staff)
