"""Pages of other sites, names that resolve to this machine, and proxies, against a server without keys.

Against one with keys: none of that stands in for a key, and nothing is documented to strangers.
"""

from __future__ import annotations

from itertools import product

from scripts.attacks.sockets import build_handshake
from scripts.attacks.wire import build_bearer, build_head, open_wire
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

STAFF = "/api/v1/agent/ws?agent_id=amy&after=0"
REQUESTS = (
    ("GET", "/api/v1/knowledge/documents"),
    ("GET", "/api/v1/health"),
    ("GET", "/docs"),
    ("POST", CHAT),
    ("DELETE", "/api/v1/knowledge/documents/x"),
)
HOSTS = (
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:8000",
    "192.168.1.5",
    "0.0.0.0",
)
# What one program may read as this machine and another one as somewhere else.
ODD_HOSTS = (
    *("", "127.0.0.1:x", "127.0.0.1@evil.example", "[::1", "[::1]evil", "localhost.", "127.0.0.1, evil.example"),
)
OWN_HOSTS = ("127.0.0.1", "localhost", "LOCALHOST:1234", "[::1]", "[::1]:9", "127.0.0.1:80")
FOREIGN = (
    ("Origin", "https://evil.example"),
    ("Origin", "null"),
    ("Origin", "http://127.0.0.1:1"),
    ("Origin", "http://localhost"),
    ("Origin", "file://127.0.0.1"),
    ("Origin", "http://127.0.0.1.evil.example"),
    ("Origin", "http://["),
    ("Sec-Fetch-Site", "cross-site"),
    ("Sec-Fetch-Site", "same-site"),
)
FORWARDED = (
    ("X-Forwarded-For", "127.0.0.1"),
    ("X-Forwarded-Host", "127.0.0.1"),
    ("X-Forwarded-Proto", "http"),
    ("Forwarded", "for=127.0.0.1"),
    ("Via", "1.1 proxy"),
    ("X-Real-IP", "127.0.0.1"),
)
# With keys these would tell strangers what there is to try.
DOCUMENTED = ("/docs", "/openapi.json")
OWN = ((), (("Origin", "http://127.0.0.1"), ("Sec-Fetch-Site", "same-origin")), (("Sec-Fetch-Site", "none"),))


async def run_attack(target: Target) -> Report:
    """Checks a server without keys, or what keys are still needed for where there are some."""
    report = Report()
    await (_check_with_keys if target.client else _check_without_keys)(target, report)
    return report


async def _check_without_keys(target: Target, report: Report) -> None:
    for method, path in REQUESTS:
        for host in HOSTS + ODD_HOSTS:
            await _check_refusal(target, report, build_head(method, path, host=host), f"{method} {path} 主机名 {host}")
        for header in FOREIGN + FORWARDED:
            await _check_refusal(target, report, build_head(method, path, [header]), f"{method} {path} {header}")
        await _check_refusal(
            target, report, build_head(method, path, [("Host", "localhost")]), f"{method} {path} 两个主机名"
        )
        # HTTP/1.0 may come without the name of a host
        await _check_refusal(target, report, build_head(method, path, version="1.0"), f"{method} {path} HTTP/1.0")
    for host in HOSTS:
        await _check_refusal(target, report, build_handshake(STAFF, host=host), f"WebSocket 主机名 {host}")
    for header in FOREIGN + FORWARDED:
        await _check_refusal(target, report, build_handshake(STAFF, [header]), f"WebSocket {header}")
    for host in OWN_HOSTS:
        await _check_status(target, report, build_head("GET", "/api/v1/profile", host=host), 200, host)
    for headers in OWN:
        await _check_status(target, report, build_head("GET", "/api/v1/profile", headers), 200, str(headers))
        await _check_status(target, report, build_handshake(STAFF, headers), 101, f"WebSocket {headers}")
    for path in DOCUMENTED:
        await _check_status(target, report, build_head("GET", path), 200, path)


async def _check_with_keys(target: Target, report: Report) -> None:
    for header, host in product(FORWARDED, ("127.0.0.1", "localhost")):
        await _check_status(target, report, build_head("GET", "/api/v1/profile", [header], host=host), 401, str(header))
    for path, key in product(DOCUMENTED, ("", target.client)):
        await _check_status(target, report, build_head("GET", path, build_bearer(key)), 404, path)
    for headers in ((FOREIGN[0],), (FORWARDED[0],)):
        shown = [*build_bearer(target.agent), *headers]
        await _check_status(
            target, report, build_head("GET", "/api/v1/profile", shown, host="kefu.example.com"), 200, str(headers)
        )


async def _check_refusal(target: Target, report: Report, head: bytes, name: str) -> None:
    async with open_wire(target) as line:
        await line.send(head)
        status = await line.read_status(30)
        report.check(status in (400, 403), f"{name}：{status}")


async def _check_status(target: Target, report: Report, head: bytes, wanted: int, name: str) -> None:
    async with open_wire(target) as line:
        await line.send(head)
        status = await line.read_status(30)
        report.check(status == wanted, f"{name}：{status}")
