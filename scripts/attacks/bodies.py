"""Bodies that are too large, too slow, or sent by nobody."""

from __future__ import annotations

import asyncio
from itertools import product

from scripts.attacks.wire import Headers, build_bearer, build_head, open_wire
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, COMPLETIONS, DOCUMENTS, STREAM, Target

POSTS = (
    CHAT,
    STREAM,
    COMPLETIONS,
    DOCUMENTS,
    "/api/v1/knowledge/search",
    "/api/v1/webhooks",
    "/api/v1/conversations/s/handoff",
)
# _HUGE is only declared: more than any route takes, so that the refusal has to come before the body.
_HUGE, _PIECE = 300 << 20, 1 << 16
_JSON = ("Content-Type", "application/json")
_FORM = ("Content-Type", "multipart/form-data; boundary=b")


async def run_attack(target: Target, megabytes: int = 300, patience: float = 60.0) -> Report:
    """megabytes: what is tried to be sent without a key; patience: seconds for what the server has to cut."""
    report = Report()
    await _send_without_role(target, report, megabytes)
    await _send_too_large(target, report)
    await _send_slowly(target, report, patience)
    return report


async def _send_without_role(target: Target, report: Report, megabytes: int) -> None:
    """Checks that nothing of a body is read without a key or the role."""
    keys = {"": 401, "yd-wrong": 401}
    for path in POSTS:
        roles = keys | ({target.client: 403} if path in (DOCUMENTS, "/api/v1/webhooks") else {})
        for key, status in roles.items():
            for headers in ([_JSON, ("Content-Length", str(_HUGE))], [_FORM, ("Transfer-Encoding", "chunked")]):
                got = await _get_status(target, path, [*build_bearer(key), *headers])
                report.check(got == status, f"{path} 没有权限却要读请求体：{got}")
    expecting = [_JSON, ("Content-Length", "100"), ("Expect", "100-continue")]
    report.check(await _get_status(target, CHAT, expecting) == 401, "没有密钥却请对方继续发送")
    for headers in ([("Content-Length", str(megabytes << 20))], [("Transfer-Encoding", "chunked")]):
        taken = await _count_taken(target, CHAT, [_JSON, *headers], megabytes << 20)
        report.check(taken < 16 << 20, f"没有密钥也收下了 {taken >> 20} MB")


async def _send_too_large(target: Target, report: Report) -> None:
    """Checks that a body is read only as far as its route allows."""
    sent = dict.fromkeys((CHAT, STREAM, COMPLETIONS), target.client)
    for path, key in (sent | {DOCUMENTS: target.admin, "/api/v1/webhooks": target.admin}).items():
        form = _FORM if path == DOCUMENTS else _JSON
        got = await _get_status(target, path, [*build_bearer(key), form, ("Content-Length", str(_HUGE))])
        report.check(got == 413, f"{path} 声明 300 MB：{got}")
    for headers in ([("Content-Length", str(400 << 10))], [("Transfer-Encoding", "chunked")]):
        async with open_wire(target) as line:  # what is declared is not what is believed
            await line.send(build_head("POST", CHAT, [*build_bearer(target.client), _JSON, *headers]))
            chunked = headers[0][0] != "Content-Length"
            for _ in range(12 if chunked else 6):
                if not await line.send(_build_chunk(_PIECE) if chunked else b" " * _PIECE):
                    break
            if not chunked:
                await line.send(b" " * ((400 << 10) - 6 * _PIECE))
            got = await line.read_status(30)
            report.check(got == (413 if chunked else 422), f"{headers[0][0]}：{got}")


async def _send_slowly(target: Target, report: Report, patience: float) -> None:
    """A body that trickles is answered with 408, and the connection does not stay."""
    bodies = {CHAT: (_JSON, target.client), DOCUMENTS: (_FORM, target.admin)}
    lengths = ("Content-Length", "1000"), ("Transfer-Encoding", "chunked")
    async with asyncio.TaskGroup() as group:
        for (path, (form, key)), length in product(bodies.items(), lengths):
            head = build_head("POST", path, [*build_bearer(key), form, length])
            group.create_task(_leave_unfinished(target, report, head, patience, path))


async def _leave_unfinished(target: Target, report: Report, head: bytes, patience: float, name: str) -> None:
    async with open_wire(target) as line:
        await line.send(head)
        await line.send(b"2\r\n--\r\n" if b"chunked" in head else b"--")
        got = await line.read_status(patience)
        report.check(got == 408, f"{name} 的请求体一直不来：{got}")
        report.check(await line.is_closed(patience), f"{name} 超时后连接还在")


async def _get_status(target: Target, path: str, headers: Headers) -> int:
    """The status that comes before anything of the body was sent."""
    async with open_wire(target) as line:
        await line.send(build_head("POST", path, headers))
        return await line.read_status(30)


async def _count_taken(target: Target, path: str, headers: list[tuple[str, str]], most: int) -> int:
    """How many bytes of a body the server takes, of `most`."""
    piece = b" " * _PIECE if headers[-1][0] == "Content-Length" else _build_chunk(_PIECE)
    taken = 0
    async with open_wire(target) as line:
        await line.send(build_head("POST", path, headers))
        while taken < most and await line.send(piece):
            taken += _PIECE
    return taken


def _build_chunk(size: int) -> bytes:
    return f"{size:x}\r\n".encode() + b" " * size + b"\r\n"
