"""Streams and sockets that are open at once, against the running service, and the replicas' turns over one Redis."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from app.auth.principal import Role
from app.errors import Overloaded
from app.limits.leases import Lease
from app.limits.redis_leases import RedisLeases
from app.limits.types import LimitKind, Requester
from app.metrics import Metrics
from app.redis.server import open_redis
from app.settings import Settings
from app.wiring.limits import open_limits
from tests.app.desk.client import Talker, talking
from tests.app.limits.test_limits import key_of
from tests.app.serving import served
from tests.services import REDIS, redis_prefix

LINE = "/api/v1/conversations/s{}/ws?after=0"


@pytest.mark.parametrize("path", ["/api/v1/chat/stream", "/v1/chat/completions"])
async def test_streams_of_a_key_are_bounded_and_one_that_ends_makes_room(tmp_path: Path, path: str) -> None:
    def said(text: str) -> dict[str, Any]:
        if path.startswith("/v1/"):
            return {"model": "yingda", "stream": True, "messages": [{"role": "user", "content": text}]}
        return {"message": text}

    async with served(tmp_path, streams_per_key=1) as server:
        headers = await key_of(server, Role.SERVER)
        key = (await server.container.keys.authenticate(headers["Authorization"].split()[1], None)).key
        limits, sender = server.container.limits, Requester(key, server=True)
        async with httpx.AsyncClient(base_url=server.address, headers=headers, timeout=60) as http:
            with await limits.open_stream("default", sender, ""):
                refused = await http.post(path, json=said("你好"))
                assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_streams")
                assert int(refused.headers["retry-after"]) >= 1
                assert (await http.post(path, json=said("我不想活了"))).status_code == 200
                assert (await http.post("/api/v1/chat", json={"message": "你好"})).status_code == 200
            for _ in range(3):
                assert (await http.post(path, json=said("你好"))).status_code == 200
        assert server.container.leases.count_held(LimitKind.STREAMS, ("key", "default", key)) == 0


async def test_sockets_of_an_address_and_of_a_key_are_bounded_and_one_that_closes_makes_room(tmp_path: Path) -> None:
    async with served(tmp_path, sockets_per_address=1, sockets_per_key=2) as server, AsyncExitStack() as stack:
        window, staff = await key_of(server, Role.CLIENT), await key_of(server, Role.SERVER)

        async def opened(number: int, headers: dict[str, str]) -> Talker:
            line = LINE.format(number)
            return await stack.enter_async_context(talking(server.address, line, additional_headers=headers))

        first = await opened(1, window)
        await answered(first)
        assert await turned_away(await opened(2, window)) == ("too_many_sockets", 1013)
        await first.connection.close()
        await until_answered(lambda: opened(3, window))
        for number in (4, 5):
            await answered(await opened(number, staff))
        assert await turned_away(await opened(6, staff)) == ("too_many_sockets", 1013)


async def answered(talker: Talker) -> None:
    await talker.send("ping")
    await talker.until(lambda frame: frame["type"] == "pong")


async def turned_away(talker: Talker) -> tuple[str, int]:
    error = await talker.until(lambda frame: frame["type"] == "error")
    assert error["error"]["details"]["retry_after"] >= 1
    await talker.connection.wait_closed()
    return error["error"]["code"], talker.connection.close_code or 0


async def until_answered(connect: Any) -> None:
    """The server hears a little later that a connection was closed."""
    async with asyncio.timeout(60):
        while True:
            with suppress(ConnectionClosed):
                talker = await connect()
                await talker.send("ping")
                if (await talker.until(lambda frame: frame["type"] in ("pong", "error")))["type"] == "pong":
                    return


async def test_replicas_count_the_turns_under_way_together() -> None:
    async with redis_prefix() as prefix, AsyncExitStack() as stack:
        replicas = []
        for _ in range(2):
            server = await stack.enter_async_context(open_redis(REDIS, prefix, 60.0))
            assert server is not None
            leases = RedisLeases(server)
            stack.push_async_callback(leases.close)
            settings = Settings(_env_file=None, turns_per_key=3, turns_per_tenant=4)
            replicas.append(open_limits(settings, Metrics(), embeddings=3, leases=leases))
        mine, theirs = Requester("mine"), Requester("theirs")
        told = [await replicas[number % 2].begin("t", mine) for number in range(5)]
        assert [isinstance(one, Lease) for one in told] == [True] * 3 + [False] * 2
        assert isinstance(await replicas[0].begin("t", theirs), Lease)
        assert isinstance(await replicas[1].begin("t", theirs), Overloaded)
