from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.errors import Forbidden
from app.net.targets import TargetPolicy, check_url, parse_port_ranges, resolve_target

PUBLIC = TargetPolicy("网址", "请管理员设置", ports=parse_port_ranges("80,443,8000-9999"))
INTRANET = TargetPolicy.from_settings(
    "网址", "请管理员设置", ("wiki.corp", "10.1.0.0/16", "100.64.0.0/10"), parse_port_ranges("80,443")
)

PRIVATE = [
    "http://127.0.0.1/x",
    "http://localhost:8000/",
    "https://LOCALHOST./",
    "http://[::1]/",
    "http://10.0.0.8/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://100.64.0.1/",
    "http://0.0.0.0/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
    "http://db.internal/",
    "http://printer.local/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://127.1/",
]
# Other spellings of such addresses, those inside IPv6 ones, and names that stay in a network.
ODD_IPV4 = (
    *("0x7f000001", "017700000001", "0", "10.1", "127.0.0.1.", "4294967295", "192.88.99.1", "192.0.0.192"),
    *("127。0。0。1", "%31%32%37.0.0.1", "１２７.0.0.1", "0177.0.0.1"),
)
ODD_IPV6 = (
    *("::", "fec0::1", "ff02::1", "100::1", "5f00::1", "3fff::1", "2001:db8::1", "::ffff:10.0.0.8", "::127.0.0.1"),
    *("::10.0.0.8", "::ffff:0:127.0.0.1", "64:ff9b::a00:8", "64:ff9b:1::7f00:1", "64:ff9b:1:ffff::808:808"),
    *("2002:a00:8::1", "2001:0:7f00:1::", "2001:0:808:808::80ff:fffe", "2001:4860::5efe:7f00:1"),
    *("2001:4860::200:5efe:a00:8", "::ffff:127.0.0.1%25eth0"),
)
ODD_NAMES = (
    "a.localhost",
    "router.home.arpa",
    "a..b",
    "xn--",
    "xn--a",
    "xn--zzzzzzzz9999",
    f"{'a' * 64}.com",
    "\u200b",
)
BROKEN = (
    *("http://exa mple.com/", "http://[::1/x", "http://[v1.x]/x", "http:///x", "http://example.com:99999/"),
    *("http://example.com:0/", "https://93.184.216.34:22/"),
)


@pytest.mark.parametrize(
    "url",
    [
        *(f"http://{host}/x" for host in (*ODD_IPV4, *ODD_NAMES)),
        *(f"http://[{host}]/x" for host in ODD_IPV6),
        *BROKEN,
    ],
)
def test_no_spelling_leads_inside(url: str) -> None:
    with pytest.raises(Forbidden):
        check_url(url, PUBLIC)


@pytest.mark.parametrize("url", [*PRIVATE, "ftp://example.com/", "http://", "https://me:pw@example.com/", "nonsense"])
def test_nothing_of_the_network_of_the_server_is_called(url: str) -> None:
    with pytest.raises(Forbidden) as caught:
        check_url(url, PUBLIC)
    assert caught.value.code == "unsafe_target"


def test_public_addresses_are_fine_on_the_ports_that_are_listed() -> None:
    for url in ("https://example.com/hook", "http://93.184.216.34/", "https://[2606:4700::1111]:8443/x"):
        assert str(check_url(url, PUBLIC)) == url
    for port in (22, 444, 7999, 10_000):
        with pytest.raises(Forbidden, match="80、443、8000-9999"):
            check_url(f"http://93.184.216.34:{port}/", PUBLIC)


METADATA = (
    *("168.63.129.16", "169.254.169.254", "169.254.0.23", "100.100.100.200", "100.96.0.96", "192.0.0.192"),
    *("[fd00:ec2::254]", "[fd20:ce::254]", "[::ffff:168.63.129.16]", "[64:ff9b::a83f:8110]", "2822734096"),
)


@pytest.mark.parametrize("host", METADATA)
def test_where_clouds_tell_their_secrets_only_an_address_that_is_listed_itself_is_called(host: str) -> None:
    url = f"http://{host}/metadata"
    for policy in (PUBLIC, INTRANET, TargetPolicy("网址", "", private=True)):
        with pytest.raises(Forbidden, match="元数据"):
            check_url(url, policy)
    if host[0].isdigit() and "." in host:
        assert check_url(url, TargetPolicy.from_settings("网址", "", (host,), ()))


@pytest.mark.parametrize("text", ["x", "0", "65536", "9-8", "80-", "-80", "80;443", "８０"])
def test_what_is_no_port_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="80,443,8000-9999"):
        parse_port_ranges(text)


def answer(*addresses: str) -> Any:
    async def lookup(*_: Any, **__: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, 80)) for address in addresses]

    return lookup


@pytest.mark.parametrize("addresses", [("93.184.216.34", "10.0.0.8"), ("::ffff:169.254.169.254",), ("127.0.0.1",)])
async def test_a_name_is_what_all_of_its_addresses_are(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...]
) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer(*addresses))
    with pytest.raises(Forbidden, match=r"内网|元数据"):
        await resolve_target("http://shop.example/", PUBLIC)


async def test_an_intranet_is_called_as_far_as_it_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert str(check_url("http://10.1.2.3:9000/", INTRANET)) == "http://10.1.2.3:9000/"
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer("10.7.0.1"))
    assert (await resolve_target("http://Wiki.corp:9000/a", INTRANET)).address == "10.7.0.1"
    for url in ("http://other.corp/", "http://10.2.0.1/"):
        with pytest.raises(Forbidden):
            await resolve_target(url, INTRANET)
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer("169.254.169.254"))
    with pytest.raises(Forbidden):  # whatever a name is listed for, the cloud's secrets are not
        await resolve_target("http://wiki.corp/", INTRANET)


async def test_what_was_checked_is_what_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", answer("93.184.216.34"))
    target = await resolve_target("https://shop.example:8443/a?b=1", PUBLIC)
    assert str(target.address_url) == "https://93.184.216.34:8443/a?b=1"
    assert (target.headers, target.extensions) == ({"Host": "shop.example:8443"}, {"sni_hostname": "shop.example"})


async def test_a_name_is_resolved_as_its_certificate_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def resolving(host: str, port: int, **options: object) -> list[object]:
        asked.append(host)
        return [(0, 0, 0, "", ("93.184.216.34", port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolving)
    target = await resolve_target("https://faß.example/", PUBLIC)
    assert asked == [target.extensions["sni_hostname"]] == ["xn--fa-hia.example"]
