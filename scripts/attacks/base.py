"""What an attack gets, and what it reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx


@dataclass(frozen=True, slots=True)
class Target:
    """A running server of one's own, on this machine. Keys are of one tenant, those named `other_…` of another one.

    Without keys (keyless loopback) all of them are empty. `pid` is 0 where the process is not known.
    """

    address: str
    admin: str = ""
    server: str = ""
    agent: str = ""
    lead: str = ""
    client: str = ""
    metrics: str = ""
    other_client: str = ""
    other_admin: str = ""
    pid: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError for any host but this machine."""
        host = urlsplit(self.address).hostname or ""
        if host != "localhost" and not ip_address(host).is_loopback:
            raise ValueError(f"只攻击本机上的服务，不是 {host}")

    def http(self, key: str = "", seconds: float = 60.0) -> httpx.AsyncClient:
        """A client that shows `key`."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.AsyncClient(base_url=self.address, headers=headers, timeout=seconds, trust_env=False)


@dataclass(slots=True)
class Report:
    """Counts cases of one subject; `broken` holds a line for each that the server did not withstand."""

    cases: int = 0
    broken: list[str] = field(default_factory=list)

    def case(self, held: bool, name: str) -> None:
        """One case more."""
        self.cases += 1
        if not held:
            self.broken.append(name)


# Bounded in requests, bytes and time; leaves the server as it was, apart from what it sent.
Attack = Callable[[Target], Awaitable[Report]]
