"""Which addresses are of the open internet, and not of the network that the server stands in."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

# All that is handed out of IPv6; beyond it only what carries an IPv4 address may lead anywhere.
_UNICAST = IPv6Network("2000::/3")
# IPv4-mapped, and NAT64 of the internet (RFC 6052). Its local kin 64:ff9b:1::/48 (RFC 8215), IPv4-compatible and
# IPv4-translated addresses lead into somebody's own network, if anywhere.
_CARRIERS = tuple(map(IPv6Network, ("::ffff:0:0/96", "64:ff9b::/96")))
# Documentation, and the relays of 6to4, which Python takes for the open internet.
_RESERVED = (IPv6Network("3fff::/20"), IPv4Network("192.88.99.0/24"))
# Upper half of an interface's number that goes on with an IPv4 address (RFC 5214).
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})


# Where a machine of a cloud is told its secrets, by whoever asks from it.
_METADATA = tuple(
    ip_network(network)
    for network in (
        "169.254.0.0/16",  # link-local: most of them
        "fe80::/10",
        "168.63.129.16",  # Azure, of the open internet by its number
        "100.100.100.200",  # Alibaba Cloud
        "100.96.0.96",  # Volcengine
        "192.0.0.192",  # Oracle Cloud
        "fd00:ec2::/32",  # Amazon
        "fd20:ce::/32",  # Google Cloud
        "fd00:42::42",  # Scaleway
    )
)


def is_metadata(address: IPv4Address | IPv6Address) -> bool:
    """Whether a cloud answers there with what only its machine may know, also inside of an IPv6 address."""
    if isinstance(address, IPv6Address) and any(address in network for network in _CARRIERS):
        address = _get_last(address)
    return any(address.version == network.version and address in network for network in _METADATA)


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is of the open internet, also the ones that an IPv6 address carries inside."""
    if any(address.version == network.version and address in network for network in _RESERVED):
        return False
    if isinstance(address, IPv6Address):
        if any(address in network for network in _CARRIERS):
            return is_public(_get_last(address))
        if address not in _UNICAST or not all(is_public(inner) for inner in _list_carried(address)):
            return False
    return address.is_global and not address.is_multicast and not is_metadata(address)


def _list_carried(address: IPv6Address) -> list[IPv4Address]:
    """Lists the IPv4 addresses to which a tunnel would take an address: 6to4, both ends of Teredo, ISATAP."""
    inner = list(address.teredo or ())
    if address.sixtofour is not None:
        inner.append(address.sixtofour)
    if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
        inner.append(_get_last(address))
    return inner


def _get_last(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFFFFFF)
