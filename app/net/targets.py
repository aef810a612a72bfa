"""Where requests of the server's own may go: out into the world, not back into the network that it stands in."""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from app.errors import Forbidden
from app.net.addresses import is_metadata, is_public
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,254}}$)(?:{_LABEL}\.)*{_LABEL}\.?")
_LOCAL_NAMES = (".local", ".internal", ".localhost", ".localdomain", ".home.arpa")
_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class TargetPolicy:
    """Which addresses may be called. The open internet always may, on these ports; () is any port.

    what: the address as people know it; remedy: how an administrator allows more. private: all of one's own network may
    be called, on any port. hosts, networks: what of it may, on any port. Where clouds tell their secrets, only an
    address that is listed itself may be called.
    """

    what: str
    remedy: str
    private: bool = False
    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()
    ports: tuple[range, ...] = ()

    @classmethod
    def from_settings(cls, what: str, remedy: str, allowed: tuple[str, ...], ports: tuple[range, ...]) -> TargetPolicy:
        """Builds a policy from settings. allowed: hosts, addresses, networks. Raises ValueError for a network that is
        none.
        """
        names = [item for item in allowed if not _is_numeric(item)]
        networks = tuple(ip_network(item) for item in allowed if _is_numeric(item))
        return cls(what, remedy, hosts=frozenset(map(_normalize_host, names)), networks=networks, ports=ports)

    def is_allowed(self, host: str, address: Address, port: int) -> bool:
        """Whether an address may be called. host: as it stands in the URL; address: what it resolved to."""
        listed = [network for network in self.networks if address in network]
        if is_metadata(address):
            return any(network.num_addresses == 1 for network in listed)
        if self.private or listed:
            return True
        if _normalize_host(host) in self.hosts:
            return not (address.is_multicast or address.is_unspecified)
        return is_public(address) and (not self.ports or any(port in ports for ports in self.ports))

    def build_refusal(self, reason: str) -> Forbidden:
        """Builds the error for what must not be called."""
        return Forbidden(f"{self.what}不可用：{reason}", code="unsafe_target")


@dataclass(frozen=True, slots=True)
class CheckedTarget:
    """An address that was checked: the request goes to `address`, whatever the name resolves to a moment later."""

    url: httpx.URL
    address: str

    @property
    def address_url(self) -> httpx.URL:
        """The same URL at the address."""
        return self.url.copy_with(host=self.address)

    @property
    def headers(self) -> dict[str, str]:
        """By which the receiver knows its name."""
        return {"Host": self.url.netloc.decode("ascii")}

    @property
    def extensions(self) -> dict[str, str]:
        """By which the certificate is that of the name, not of the address."""
        return {"sni_hostname": self.url.raw_host.decode("ascii")}


@dataclass(frozen=True, slots=True)
class _ParsedUrl:
    """A URL that is one. host: in ASCII, lower case."""

    url: httpx.URL
    host: str

    @property
    def port(self) -> int:
        return self.url.port or _PORTS[self.url.scheme]


def parse_port_ranges(text: str) -> tuple[range, ...]:
    """Parses ranges such as `80,8000-9999`. Raises ValueError with what to write instead."""
    ranges = []
    for item in filter(None, map(str.strip, text.split(","))):
        found = _RANGE.fullmatch(item)
        ports = range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)
        if not ports or ports[0] < 1 or ports[-1] > 65535:
            raise ValueError(f"{item[:20]} 不是端口，也不是端口的一段，例如 80,443,8000-9999")
        ranges.append(ports)
    return tuple(ranges)


def check_url(url: str, policy: TargetPolicy) -> httpx.URL:
    """Checks a URL before its name is resolved. Raises Forbidden for one that must not be called."""
    return _check_url(url, policy).url


async def resolve_target(url: str, policy: TargetPolicy) -> CheckedTarget:
    """Resolves the name of a request's target, once. Raises Forbidden, OSError."""
    read = _check_url(url, policy)
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(read.host, read.port, type=socket.SOCK_STREAM)
    addresses = [str(item[4][0]).split("%")[0] for item in found]
    for address in map(ip_address, addresses):
        if not policy.is_allowed(read.host, address, read.port):
            raise _build_refusal(address, policy, resolved=True)
    return CheckedTarget(read.url, addresses[0])


def _check_url(url: str, policy: TargetPolicy) -> _ParsedUrl:
    read = _parse_url(url, policy)
    address = _parse_address(read.host)
    if address is not None and not policy.is_allowed(read.host, address, read.port):
        raise _build_refusal(address, policy)
    local = _normalize_host(read.host) == "localhost" or _normalize_host(read.host).endswith(_LOCAL_NAMES)
    if local and not (policy.private or policy.networks or _normalize_host(read.host) in policy.hosts):
        raise policy.build_refusal(f"不能指向本机或内网；{policy.remedy}")
    return read


def _parse_url(url: str, policy: TargetPolicy) -> _ParsedUrl:
    try:
        parsed = httpx.URL(url)
        host = parsed.raw_host.decode("ascii").lower()
        named = bool(parsed.host) and (":" in host or _NAME.fullmatch(host) is not None)
        valid = named and (parsed.port is None or 0 < parsed.port < 65536)
    except (httpx.InvalidURL, UnicodeError) as error:  # what is no name in Punycode is found out only when it is read
        raise policy.build_refusal("不是合法的网址") from error
    if parsed.scheme not in _PORTS:
        raise policy.build_refusal("须以 https:// 或 http:// 开头")
    if not valid:
        raise policy.build_refusal("不是合法的网址")
    if parsed.userinfo:
        raise policy.build_refusal("网址里不能带用户名和密码")
    return _ParsedUrl(parsed, host)


def _build_refusal(address: Address, policy: TargetPolicy, *, resolved: bool = False) -> Forbidden:
    if is_metadata(address):
        return policy.build_refusal("不能指向云的元数据地址")
    if is_public(address):
        shown = (f"{ports[0]}-{ports[-1]}" if len(ports) > 1 else str(ports[0]) for ports in policy.ports)
        return policy.build_refusal(f"只能用端口 {'、'.join(shown)}；{policy.remedy}")
    return policy.build_refusal("域名解析到了本机或内网地址" if resolved else f"不能指向本机或内网；{policy.remedy}")


def _normalize_host(host: str) -> str:
    return host.lower().rstrip(".")


def _parse_address(host: str) -> Address | None:
    """Of a host that is an address, 127.1 and 0x7f.1 too; names are looked at once they are resolved."""
    plain = _normalize_host(host)
    with suppress(ValueError):
        return ip_address(plain.partition("%")[0])
    with suppress(OSError):
        return IPv4Address(socket.inet_aton(plain))
    return None


def _is_numeric(item: str) -> bool:
    return "/" in item or _parse_address(item) is not None
