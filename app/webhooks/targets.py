"""Where webhooks may go: out into the world, not back into the network that the server stands in."""

from __future__ import annotations

import asyncio
import re
import socket
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import httpx

from app.errors import InvalidRequest

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,254}}$)(?:{_LABEL}\.)*{_LABEL}\.?")
_UNICAST = IPv6Network("2000::/3")
"""All that is handed out of IPv6; beyond it only what carries an IPv4 address may lead anywhere."""
_CARRIERS = tuple(map(IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))
"""IPv4-mapped, and NAT64 of the internet (RFC 6052). Its local kin 64:ff9b:1::/48 (RFC 8215), IPv4-compatible and
IPv4-translated addresses lead into somebody's own network, if anywhere."""
_RESERVED = (IPv6Network("3fff::/20"), IPv4Network("192.88.99.0/24"))
"""Documentation, and the relays of 6to4, which Python takes for the open internet."""
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})
"""Upper half of an interface's number that goes on with an IPv4 address (RFC 5214)."""
_LOCAL_NAMES = (".local", ".internal", ".localhost", ".localdomain", ".home.arpa")


@dataclass(frozen=True, slots=True)
class WebhookTarget:
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
        host = parsed.raw_host.decode("ascii").lower()
        named = bool(parsed.host) and (":" in host or _NAME.fullmatch(host) is not None)
        valid = named and (parsed.port is None or 0 < parsed.port < 65536)
    except (httpx.InvalidURL, UnicodeError) as error:  # what is no name in Punycode is found out only when it is read
        raise _unsafe("不是合法的网址") from error
    if parsed.scheme not in ("https", "http"):
        raise _unsafe("须以 https:// 或 http:// 开头")
    if not valid:
        raise _unsafe("不是合法的网址")
    if parsed.userinfo:
        raise _unsafe("网址里不能带用户名和密码")
    if not allow_private:
        host = host.rstrip(".")
        if host == "localhost" or host.endswith(_LOCAL_NAMES) or not _public_literal(host):
            raise _unsafe("不能指向本机或内网；确有需要时由管理员设置 WEBHOOK_ALLOW_PRIVATE=true")
    return parsed


async def resolved(url: str, *, allow_private: bool) -> WebhookTarget:
    """The target of a delivery, its name resolved once. Raises InvalidRequest, OSError."""
    parsed = checked_url(url, allow_private=allow_private)
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    found = await asyncio.get_running_loop().getaddrinfo(parsed.host, port, type=socket.SOCK_STREAM)
    addresses = [str(item[4][0]).split("%")[0] for item in found]
    if not allow_private and not all(public(ip_address(address)) for address in addresses):
        raise _unsafe("域名解析到了本机或内网地址")
    return WebhookTarget(parsed, addresses[0])


def public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is of the open internet, also the ones that an IPv6 address carries inside."""
    if any(address.version == network.version and address in network for network in _RESERVED):
        return False
    if isinstance(address, IPv6Address):
        if any(address in network for network in _CARRIERS):
            return public(_last(address))
        if address not in _UNICAST or not all(public(inner) for inner in _carried(address)):
            return False
    return address.is_global and not address.is_multicast


def _carried(address: IPv6Address) -> list[IPv4Address]:
    """Where a tunnel would take it: 6to4, both ends of Teredo, ISATAP."""
    inner = list(address.teredo or ())
    if address.sixtofour is not None:
        inner.append(address.sixtofour)
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        inner.append(_last(address))
    return inner


def _last(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)


def _public_literal(host: str) -> bool:
    """Of a host that is an address, 127.1 and 0x7f.1 too; names are looked at once they are resolved."""
    try:
        return public(ip_address(host.partition("%")[0]))
    except ValueError:
        with suppress(OSError):
            return public(IPv4Address(socket.inet_aton(host)))
        return True


def _unsafe(reason: str) -> InvalidRequest:
    return InvalidRequest(f"Webhook 地址不可用：{reason}", code="unsafe_target")
