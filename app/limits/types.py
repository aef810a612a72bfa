"""Whom requests are counted for, and how many of them are taken."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from agents.types import SenderId
from app.errors import AppError

MINUTE, HOUR = 60.0, 3600.0


class LimitKind(StrEnum):
    """What may be too much."""

    KEY = "key"
    TENANT = "tenant"
    ADDRESS = "address"
    SESSION = "session"
    SIGN_IN = "sign_in"
    ACCOUNT = "account"
    HANDOFF = "handoff"
    TICKET = "ticket"
    QUEUE_FULL = "queue_full"
    STREAMS = "streams"
    SOCKETS = "sockets"
    QUEUE_TIMEOUT = "queue_timeout"
    CHANNEL = "channel"


@dataclass(frozen=True, slots=True)
class Rate:
    """`count` in any `seconds`; a count of 0 is no limit."""

    count: int
    seconds: float = MINUTE


@dataclass(frozen=True, slots=True)
class Requester(SenderId):
    """Who sent a request, as far as it is counted.

    key: empty where nobody needs one: then nothing is counted. address: only of those who come with a public key; one
    of a company's servers speaks for all of its customers. refusal: it was one too many, which is told unless the
    message needs a reply all the same; see `RateLimits.admit_message`.
    """

    server: bool = False
    staff: bool = False
    refusal: AppError | None = None


NOBODY = Requester()


@lru_cache(maxsize=4096)
def normalize_address(host: str) -> str:
    """Returns an address as it is counted: of IPv6 the /64, since one customer has a whole one."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped
        return str(inner or ip_network((address, 64), strict=False).network_address)
    return host
