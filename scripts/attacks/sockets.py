"""Frames that are too large or too many, compressed bombs, and sockets that never say who they are."""

from __future__ import annotations

import asyncio
import base64
import os
import struct
from contextlib import AsyncExitStack

from scripts.attacks.wire import Headers, Wire, build_bearer, build_head, open_wire
from scripts.harness.checks import Report
from scripts.harness.servers import CHAT, Target

PATH = "/api/v1/conversations/attack/ws?after=0"
_TEXT, _CONTINUED, _PING, _FIN = 0x1, 0x0, 0x9, 0x80
_MASKED = 0x80


async def run_attack(target: Target, strangers: int = 1000, megabytes: int = 64, patience: float = 60.0) -> Report:
    """strangers: sockets that say nothing; megabytes: sent at most by each of the others; patience: in seconds."""
    report = Report()
    await _send_frames(target, report, megabytes, patience)
    await _check_no_deflate(target, report)
    if target.client:
        await _hold_strangers(target, report, strangers, patience)
    return report


def build_handshake(path: str = PATH, headers: Headers = (), host: str = "127.0.0.1") -> bytes:
    """The head of a request for a WebSocket."""
    key = base64.b64encode(os.urandom(16)).decode()
    own = [("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", key)]
    return build_head("GET", path, [*own, ("Sec-WebSocket-Version", "13"), *headers], host=host)


def build_frame(kind: int, data: bytes) -> bytes:
    """Builds a frame with a mask of zeros. kind: its opcode, with _FIN for the last piece of a message."""
    size = len(data)
    if size < 126:
        head = bytes((kind, _MASKED | size))
    elif size < 1 << 16:
        head = bytes((kind, _MASKED | 126)) + struct.pack("!H", size)
    else:
        head = bytes((kind, _MASKED | 127)) + struct.pack("!Q", size)
    return head + bytes(4) + data  # clients have to mask, and zeros leave the data as it is


async def _send_frames(target: Target, report: Report, megabytes: int, patience: float) -> None:
    """What nobody reads or nobody may send ends the connection, before it costs memory."""
    large, pieces = (
        build_frame(_FIN | _TEXT, b"x" * (15 << 20)),
        build_frame(_TEXT, b"x") + build_frame(_CONTINUED, b"x" * 1000) * 500,
    )
    floods = {
        "15 MB 的一帧": (large, b""),
        "很多段的一条消息": (pieces, b""),
        "无尽的空段": (build_frame(_TEXT, b"x"), build_frame(_CONTINUED, b"") * 20_000),
        "无尽的 ping": (b"", build_frame(_FIN | _PING, b"p" * 100) * 5000),
        "无尽的小帧": (b"", build_frame(_FIN | _TEXT, b"{}") * 10_000),
    }
    before = target.measure_memory()
    for name, (start, piece) in floods.items():
        async with open_wire(target) as line:
            status = await _open_socket(line, target)
            report.check(status == 101, f"握手：{status}")
            sent, going = 0, await line.send(start)
            while going and piece and sent < megabytes << 20:
                try:
                    async with asyncio.timeout(min(patience, 3)):
                        going = await line.send(piece)
                except TimeoutError:  # not read any more, and therefore not kept either
                    going = False
                sent += len(piece)
            held = not going or await line.is_closed(patience)
            report.check(held, f"{name}：收下了 {sent >> 20} MB")
    grown = target.measure_memory() - before
    report.check(grown < 100, f"各种帧之后内存多了 {grown:.0f} MB")


async def _open_socket(line: Wire, target: Target) -> int:
    await line.send(build_handshake(headers=build_bearer(target.client)))
    return await line.read_status(30)


async def _check_no_deflate(target: Target, report: Report) -> None:
    """Checks that compression is refused: a compressed frame of a few bytes could be a large one."""
    async with open_wire(target) as line:
        await line.send(
            build_handshake(headers=[*build_bearer(target.client), ("Sec-WebSocket-Extensions", "permessage-deflate")])
        )
        head = await line.reader.readuntil(b"\r\n\r\n")
        report.check(b" 101 " in head and b"deflate" not in head.lower(), "接受了压缩的帧")


async def _hold_strangers(target: Target, report: Report, count: int, patience: float) -> None:
    """Sockets without a key wait for their first frame for a while, and not too many of them at once."""
    async with AsyncExitStack() as held:
        lines = [await held.enter_async_context(open_wire(target)) for _ in range(count)]
        for line in lines:
            await line.send(build_handshake())
        async with target.open_client(target.client, 30) as http:
            status = (await http.post(CHAT, json={"message": "你好"})).status_code
            report.check(status == 200, f"{count} 个不打招呼的连接时提问：{status}")
        async with open_wire(target) as line:
            report.check(await _open_socket(line, target) == 101, f"{count} 个不打招呼的连接时握手")
        ended = await asyncio.gather(*(line.is_closed(patience) for line in lines))
        report.check(all(ended), f"{ended.count(False)} 个不打招呼的连接一直留着")
