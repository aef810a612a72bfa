"""Where webhooks may go: out into the world, not back into the network that the server stands in."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx

from app.errors import InvalidRequest

_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAMES = (".local", ".internal", ".localhost", ".localdomain", ".home.arpa")


@dataclass(frozen=True, slots=True)
class Target:
    """An address that was checked: the request goes to `address`, whatever the name resolves to a moment later."""

    url: httpx.URL
    address: str

    @property
    def pinned(self) -> httpx.URL:
        return self.url.copy_with(host=self.address)


def checked_url(url: str, *, allow_private: bool) -> httpx.URL:
    """The URL of a subscription. Raises InvalidRequest for one that could not be delivered to."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise _unsafe("不是合法的网址") from error
    if parsed.scheme not in ("https", "http") or not parsed.host:
        raise _unsafe("须以 https:// 或 http:// 开头")
    if parsed.userinfo:
        raise _unsafe("网址里不能带用户名和密码")
    if not allow_private:
        host = parsed.host.rstrip(".").lower()
        if host == "localhost" or host.endswith(_LOCAL_NAMES) or not _public_literal(host):
            raise _unsafe("不能指向本机或内网；确有需要时由管理员设置 WEBHOOK_ALLOW_PRIVATE=true")
    return parsed


async def resolved(url: str, *, allow_private: bool) -> Target:
    """The target of a delivery, its name resolved once. Raises InvalidRequest, OSError."""
    parsed = checked_url(url, allow_private=allow_private)
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    found = await asyncio.get_running_loop().getaddrinfo(parsed.host, port, type=socket.SOCK_STREAM)
    addresses = [str(item[4][0]).split("%")[0] for item in found]
    if not allow_private and not all(public(ip_address(address)) for address in addresses):
        raise _unsafe("域名解析到了本机或内网地址")
    return Target(parsed, addresses[0])


def public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is of the open internet, also the one that an IPv6 address carries inside."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if inner is None and address in _NAT64:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return public(inner)
    return address.is_global and not address.is_multicast


def _public_literal(host: str) -> bool:
    """Of a host that is an address, 127.1 and 0x7f.1 too; names are looked at once they are resolved."""
    try:
        return public(ip_address(host.strip("[]")))
    except ValueError:
        with suppress(OSError):
            return public(IPv4Address(socket.inet_aton(host)))
        return True


def _unsafe(reason: str) -> InvalidRequest:
    return InvalidRequest(f"Webhook 地址不可用：{reason}", code="unsafe_target")
