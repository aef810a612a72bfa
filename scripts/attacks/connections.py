"""Connections that cost nothing to open and are never used: half-open, idle, with endless heads, deaf."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from app.http.server import raise_file_limit
from scripts.attacks.wire import Wire, build_bearer, build_head, open_wire
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

HEALTH = "/api/v1/health"
_JSON = ("Content-Type", "application/json")
_HALF = b"POST /api/v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
_STARTS = {"半个请求头": _HALF, "一言不发": b"", "空闲": build_head("GET", HEALTH)}


async def run_attack(target: Target, count: int = 3000, others: int = 3000, patience: float = 60.0) -> Report:
    """count: half-open requests at once; others: silent and idle ones; patience: seconds for what has to be cut."""
    report = Report()
    raise_file_limit()  # a shell allows about a thousand files, and each connection is one
    for name, start in _STARTS.items():
        await _hold_crowd(target, report, name, start, count if start == _HALF else others)
    await _send_slowly(target, report, patience)
    await _send_endless_heads(target, report)
    return report


async def _hold_crowd(target: Target, report: Report, name: str, start: bytes, count: int) -> None:
    """Holds so many connections, and checks that others are served meanwhile."""
    before = target.measure_memory()
    async with AsyncExitStack() as held:
        lines = [await _open_held(held, target, start) for _ in range(count)]
        async with target.open_client(target.client, 30) as http:
            for path in (HEALTH, HEALTH, "/v1/models"):
                response = await http.get(path)
                report.check(response.status_code == 200, f"{count} 个连接{name}时 {path}：{response.status_code}")
            answer = await http.post(CHAT, json={"message": "你好"})
            report.check(answer.status_code == 200, f"{count} 个连接{name}时提问：{answer.status_code}")
        grown = target.measure_memory() - before
        report.check(grown < 200, f"{count} 个连接{name}时内存多了 {grown:.0f} MB")
        report.check(len(lines) == count, f"{name}：只连上 {len(lines)} 个")


async def _open_held(held: AsyncExitStack, target: Target, start: bytes) -> Wire:
    line = await held.enter_async_context(open_wire(target))
    await line.send(start)
    return line


async def _send_slowly(target: Target, report: Report, patience: float) -> None:
    """Heads that trickle, idle connections, and bodies that trickle after the answer are cut."""
    async with open_wire(target) as silent, open_wire(target) as idle:
        await idle.send(build_head("GET", HEALTH))
        trickling = [_is_trickling_cut(target, start, patience) for start in (_HALF, build_head("GET", HEALTH) + _HALF)]
        answered = build_head("POST", CHAT, [_JSON, ("Content-Length", "100000")])
        ended = await asyncio.gather(
            silent.is_closed(patience),
            idle.is_closed(patience),
            *trickling,
            _is_trickling_cut(target, answered, patience),
        )
    names = ("一言不发", "空闲", "慢请求头", "第二个慢请求头", "回答之后的慢请求体")
    for name, held in zip(names, ended, strict=True):
        report.check(held, f"{name}的连接一直留着")


async def _is_trickling_cut(target: Target, start: bytes, patience: float) -> bool:
    """Whether the server ends a connection that sends a byte from time to time."""
    async with open_wire(target) as line:
        await line.send(start)
        closed = asyncio.create_task(line.is_closed(patience))
        while not closed.done():
            await line.send(b"x")
            await asyncio.wait([closed], timeout=0.2)
        return closed.result()


async def _send_endless_heads(target: Target, report: Report) -> None:
    """Checks that a head, and what may follow a body, is bounded in bytes and lines."""
    many = b"".join(b"X-%d: 1\r\n" % number for number in range(5000))
    endless = {
        "一个无尽的请求头": (_HALF, b"x" * 65536),
        "无尽的网址": (b"GET /", b"x" * 65536),
        "无尽的请求头": (b"GET / HTTP/1.1\r\n", many),
        "无尽的空行": (b"", b"\r\n" * 32768),
        "无尽的尾部": (
            build_head("POST", CHAT, [*build_bearer(target.client), _JSON, ("Transfer-Encoding", "chunked")])
            + b"2\r\n{}\r\n0\r\n",
            many,
        ),
    }
    for name, (start, piece) in endless.items():
        async with open_wire(target) as line:
            sent, going = 0, await line.send(start)
            while going and sent < 64 << 20:
                going = await line.send(piece)
                sent += len(piece)
            report.check(not going, f"{name}：收下了 {sent >> 20} MB")
    for head in (
        build_head("GET", HEALTH, [("X", "y" * 200_000)]),
        b"GET /api/v1/health HTTP/1.1\r\n" + many + b"\r\n",
    ):
        async with open_wire(target) as line:
            await line.send(head)
            status = await line.read_status(30)
            report.check(status in (0, 400, 431), f"{len(head)} 字节的请求头：{status}")
