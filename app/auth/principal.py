"""Who asks, and for which tenant."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from knowledge.errors import InvalidConfiguration

DEFAULT_TENANT = "default"


class Role(StrEnum):
    """What a caller may do."""

    ADMIN = "admin"
    AGENT = "agent"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller; belongs to one tenant."""

    tenant: str
    roles: frozenset[Role]


LOOPBACK = Principal(DEFAULT_TENANT, frozenset(Role))
"""Whoever reaches a server that listens on this machine only."""


def require_safe_binding(host: str) -> None:
    """Refuses to listen beyond this machine while nobody has to show a key. Raises InvalidConfiguration."""
    if not _is_loopback(host):
        raise InvalidConfiguration(
            f"HOST={host} 会把服务暴露到本机之外，而现在没有配置 API_KEY，任何人都能读写知识库。"
            "请把 HOST 改为 127.0.0.1；需要对外提供服务时，先配置 API_KEY。"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
