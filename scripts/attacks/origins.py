"""Pages of other sites, names that resolve to this machine, and proxies, against a server without keys.

Against one with keys: none of that stands in for a key, and nothing is documented to strangers.
"""

from __future__ import annotations

from itertools import product

from scripts.attacks.payloads import load_payloads
from scripts.attacks.raw import bearer, request, wire
from scripts.attacks.sockets import handshake
from scripts.harness.checks import Report
from scripts.harness.servers import Target

STAFF = "/api/v1/agent/ws?agent_id=amy&after=0"
_PAYLOADS = load_payloads("origins")
HOSTS, OWN_HOSTS, FOREIGN, FORWARDED = (_PAYLOADS[kind] for kind in ("hosts", "own_hosts", "foreign", "forwarded"))
DOCUMENTED = ("/docs", "/openapi.json")
OWN = ((), (("Origin", "http://127.0.0.1"), ("Sec-Fetch-Site", "same-origin")), (("Sec-Fetch-Site", "none"),))


async def attack(target: Target) -> Report:
    """See above."""
    report = Report()
    await (_with_keys if target.client else _without_keys)(target, report)
    return report


async def _without_keys(target: Target, report: Report) -> None:
    for method, path in _PAYLOADS["requests"]:
        for host in HOSTS + _PAYLOADS["odd_hosts"]:
            await _refused(target, report, request(method, path, host=host), f"{method} {path} 主机名 {host}")
        for header in FOREIGN + FORWARDED:
            await _refused(target, report, request(method, path, [header]), f"{method} {path} {header}")
        await _refused(target, report, request(method, path, [("Host", "localhost")]), f"{method} {path} 两个主机名")
        await _refused(target, report, request(method, path, version="1.0"), f"{method} {path} HTTP/1.0")
    for host in HOSTS:
        await _refused(target, report, handshake(STAFF, host=host), f"WebSocket 主机名 {host}")
    for header in FOREIGN + FORWARDED:
        await _refused(target, report, handshake(STAFF, [header]), f"WebSocket {header}")
    for host in OWN_HOSTS:
        await _taken(target, report, request("GET", "/api/v1/profile", host=host), 200, host)
    for headers in OWN:
        await _taken(target, report, request("GET", "/api/v1/profile", headers), 200, str(headers))
        await _taken(target, report, handshake(STAFF, headers), 101, f"WebSocket {headers}")
    for path in DOCUMENTED:
        await _taken(target, report, request("GET", path), 200, path)


async def _with_keys(target: Target, report: Report) -> None:
    for header, host in product(FORWARDED, ("127.0.0.1", "localhost")):
        await _taken(target, report, request("GET", "/api/v1/profile", [header], host=host), 401, str(header))
    for path, key in product(DOCUMENTED, ("", target.client)):
        await _taken(target, report, request("GET", path, bearer(key)), 404, path)
    for headers in ((FOREIGN[0],), (FORWARDED[0],)):
        shown = [*bearer(target.agent), *headers]
        await _taken(
            target, report, request("GET", "/api/v1/profile", shown, host="kefu.example.com"), 200, str(headers)
        )


async def _refused(target: Target, report: Report, head: bytes, name: str) -> None:
    async with wire(target) as line:
        await line.send(head)
        status = await line.status(30)
        report.check(status in (400, 403), f"{name}：{status}")


async def _taken(target: Target, report: Report, head: bytes, wanted: int, name: str) -> None:
    async with wire(target) as line:
        await line.send(head)
        status = await line.status(30)
        report.check(status == wanted, f"{name}：{status}")
