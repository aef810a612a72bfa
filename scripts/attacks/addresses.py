"""Webhooks that would lead back into the server's own network."""

from __future__ import annotations

from scripts.harness.checks import Report
from scripts.harness.servers import Target

PATH = "/api/v1/webhooks"
_V4 = (
    *(
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "017700000001",
        "0",
        "10.1",
        "127.0.0.1.",
        "4294967295",
    ),
    *("10.0.0.8", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.88.99.1", "224.0.0.1"),
    *("168.63.129.16", "100.100.100.200", "192.0.0.192"),
    *("127。0。0。1", "%31%32%37.0.0.1", "１２７.0.0.1", "0177.0.0.1"),
)
_V6 = (
    *("::1", "::", "fd00::1", "fe80::1", "fec0::1", "ff02::1", "100::1", "5f00::1", "3fff::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.8", "::127.0.0.1", "::10.0.0.8", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a00:8", "64:ff9b:1::7f00:1", "64:ff9b:1:ffff::808:808"),
    *("2002:7f00:1::", "2002:a00:8::1", "2001:0:7f00:1::", "2001:0:808:808::80ff:fffe"),
    *("::ffff:168.63.129.16", "fd00:ec2::254"),
    *("2001:4860::5efe:7f00:1", "2001:4860::200:5efe:a00:8", "::ffff:127.0.0.1%25eth0"),
)
_NAMES = ("localhost", "LOCALHOST.", "db.internal", "printer.local", "a.localhost", "router.home.arpa")
_BROKEN = (
    *("http://xn--/x", "http://xn--a/x", "http://xn--zzzzzzzz9999/x", "http://exa mple.com/", "http://a..b/x"),
    *("http://" + "a" * 64 + ".com/x", "http://[::1/x", "http://[v1.x]/x", "http:///x", "http://example.com:99999/"),
    *("http://me:pw@example.com/x", "ftp://example.com/x", "http://example.com:0/", "http://\u200b/xxx", "nonsense"),
    "https://93.184.216.34:22/",
)
URLS = (*(f"http://{host}/x" for host in (*_V4, *_NAMES)), *(f"http://[{host}]/x" for host in _V6), *_BROKEN)


async def attack(target: Target) -> Report:
    """Each address as a new webhook, and as the new address of one; then more webhooks than anybody has."""
    report = Report()
    async with target.open_client(target.admin) as http:
        made = await http.post(PATH, json={"url": "https://example.com/hook", "events": ["ticket.created"]})
        own = [made.json()["id"]] if made.status_code == 201 else []
        report.check(made.status_code == 201, f"https://example.com/hook 是 {made.status_code}")
        for url in URLS:
            answer = await http.post(PATH, json={"url": url, "events": ["ticket.created"]})
            own += [answer.json()["id"]] if answer.status_code == 201 else []
            report.check(answer.status_code in (400, 403, 422), f"{url!a} 是 {answer.status_code}")
        for url in URLS[::4]:
            answer = await http.patch(f"{PATH}/{own[0]}", json={"url": url})
            report.check(answer.status_code in (400, 403, 422), f"改成 {url!a} 是 {answer.status_code}")
        while made.status_code == 201 and len(own) < 1100:
            made = await http.post(PATH, json={"url": "https://example.com/hook", "events": ["ticket.created"]})
            own += [made.json()["id"]] if made.status_code == 201 else []
        full = made.status_code == 409 and made.json()["error"]["code"] == "too_many_webhooks"
        report.check(full, f"有了 {len(own)} 个 Webhook 之后是 {made.status_code}")
        for webhook in own:
            await http.delete(f"{PATH}/{webhook}")
    return report
