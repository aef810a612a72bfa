"""Sockets under frames that no honest client sends: each ends or goes on, nothing is left behind, and the log has no
error of the server's.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.protocol import State

from app.auth.principal import Role
from tests.acceptance import part
from tests.app.limits.test_limits import key_of
from tests.app.openapi.document import JSON
from tests.app.serving import Served, served
from tests.logs import product_log
from tests.security.test_hostile_bodies import UNLIMITED

SEED = 20_261_124
PATHS = "/api/v1/conversations/fuzz-{}/ws?after=0", "/api/v1/agent/ws?agent_id=a{}"
_TYPES: tuple[Any, ...] = (
    *("message", "hello", "leave", "close", "ping", "pong", "accept", "resolve", "presence"),
    *("\0", "", None, 7, [], {}),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 2**70, 1.5, "", "\0", "\ud800", "你好", "x" * 3000),
    *([], [[]], {}, {"a": {"b": []}}, ["x"] * 300),
)
_FIELDS = "content", "id", "session_id", "after", "agent_id", "online", "note", "user_token", "session_token", "key"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path, **UNLIMITED, sockets_per_key=0) as server:
        await server.container.startup.ready.wait()
        yield server


@pytest.fixture
def errors(server: Served) -> Iterator[io.StringIO]:
    """What the server logged as its own mistake, uvicorn's lines included."""
    with product_log("ERROR") as stream:
        yield stream


@pytest.mark.timeout(3600)
@pytest.mark.acceptance
async def test_no_frames_break_a_socket_or_leave_something_behind(server: Served, errors: io.StringIO) -> None:
    headers = {role: await key_of(server, role) for role in (Role.CLIENT, Role.SERVER, Role.ADMIN)}
    dice, ends = random.Random(SEED), Counter[str]()
    before = len(asyncio.all_tasks())
    for number in range(part(12, 1200)):
        path = PATHS[number % 2].format(number % 9)
        role = dice.choice(tuple(headers)) if number % 2 == 0 else Role.ADMIN
        ends[await _played(server.address, path, headers[role], dice)] += 1
    async with asyncio.timeout(90):
        while len(asyncio.all_tasks()) > before + 8 or server.container.limits.count_turns("default"):  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    assert errors.getvalue() == ""
    async with httpx.AsyncClient(base_url=server.address, headers=headers[Role.SERVER], timeout=60) as http:
        assert (await http.post("/api/v1/chat", json={"message": "你好"})).headers["content-type"] == JSON
    sys.stdout.write(f"{sum(ends.values())} connections with hostile frames: {dict(sorted(ends.items()))}\n")


async def _played(address: str, path: str, headers: dict[str, str], dice: random.Random) -> str:
    """One connection; how it ended."""
    url = address.replace("http", "ws", 1) + path
    try:
        async with connect(url, additional_headers=headers, proxy=None, max_size=None, compression=None) as line:
            reading = asyncio.create_task(_read(line))
            with suppress(ConnectionClosed):
                for _ in range(dice.choice((1, 5, 40))):
                    await dice.choice(_ATTACKS)(line, dice)
            await asyncio.sleep(0.05)
            if dice.random() < 0.3:
                line.transport.abort()
            reading.cancel()
        return str(line.close_code)
    except InvalidStatus as error:
        return f"HTTP {error.response.status_code}"


async def _read(line: ClientConnection) -> None:
    with suppress(ConnectionClosed):
        async for _ in line:
            pass


async def _frame(line: ClientConnection, dice: random.Random) -> None:
    fields = {dice.choice(_FIELDS): dice.choice(_VALUES) for _ in range(dice.randrange(5))}
    await line.send(json.dumps({"type": dice.choice(_TYPES)} | fields))


async def _no_object(line: ClientConnection, dice: random.Random) -> None:
    await line.send(dice.choice(("", "[]", "null", "{", "NaN", "[" * 20_000, '{"type":', '{"a":' * 9000, "1" * 6000)))


async def _binary(line: ClientConnection, dice: random.Random) -> None:
    await line.send(os.urandom(dice.choice((0, 1, 2000))))


async def _huge(line: ClientConnection, dice: random.Random) -> None:
    await line.send("x" * dice.choice((70_000, 2_000_000)))


async def _pieces(line: ClientConnection, dice: random.Random) -> None:
    whole = json.dumps({"type": "ping"})
    await line.send([whole[:3], *[""] * dice.choice((0, 10, 400)), whole[3:]])


async def _flood(line: ClientConnection, dice: random.Random) -> None:
    for _ in range(300):
        await line.send('{"type": "ping"}')


async def _broken(line: ClientConnection, dice: random.Random) -> None:
    """Below what a client's library sends: no UTF-8, reserved bits, a continuation of nothing, noise."""
    frames = (
        b"\x81\x84\0\0\0\0\xff\xfe\xc3\x28",  # a text that is none
        b"\x80\x81\0\0\0\0x",  # the rest of nothing
        b"\xc1\x82\0\0\0\0{}",  # a reserved bit
        b"\x81\x02{}",  # no mask
        b"\x88\x81\0\0\0\0\x03",  # half a close code
        b"\x88\x82\0\0\0\0\0\x01",  # a close code that nobody may send
        b"\x83\x80\0\0\0\0",  # an opcode that is none
        b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0",  # longer than anything
        dice.randbytes(200),
    )
    if line.state is State.OPEN:  # the server may have ended it meanwhile
        line.transport.write(dice.choice(frames))
    await asyncio.sleep(0.01)


_ATTACKS = _frame, _frame, _frame, _frame, _no_object, _binary, _huge, _pieces, _flood, _broken
