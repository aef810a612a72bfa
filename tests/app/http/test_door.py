"""How many connections there may be, and who makes room."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.http.connections import RESERVE, ServerConnections
from app.http.server import build_server_config
from app.http.unidentified_sockets import UnidentifiedSockets
from app.main import create_app
from app.settings import Settings
from scripts.attacks.wire import build_bearer, build_head, open_wire
from scripts.harness.servers import Target
from tests.app.serving import served

KEY = "a-first-admin-key-of-the-test"
BODY = [*build_bearer(KEY), ("Content-Type", "application/json"), ("Content-Length", "1000")]


class Fake:
    """A connection that knows whether it was ended."""

    def __init__(self, address: str = "10.0.0.1", *, idle: bool = False) -> None:
        self.address, self.idle, self.closed = address, idle, False
        self.transport: Any = SimpleNamespace(close=self.end, abort=self.end)

    def end(self) -> None:
        self.closed = True

    def check_timeouts(self) -> None:
        """Nothing takes too long."""


def arrive(door: ServerConnections, everyone: set[Fake], *connections: Fake) -> None:
    for connection in connections:
        everyone.add(connection)
        door.add_connection(connection, everyone)
        everyone -= {one for one in everyone if one.closed}


async def test_the_oldest_of_whoever_has_most_makes_room() -> None:
    door, everyone = ServerConnections(32, 10), set[Fake]()
    quiet, loud = Fake("10.0.0.2"), [Fake() for _ in range(100)]
    arrive(door, everyone, quiet, *loud)
    assert not quiet.closed and not loud[-1].closed
    assert [one.closed for one in loud] == sorted((one.closed for one in loud), reverse=True)
    assert len(door.resting) <= 16


async def test_those_that_never_asked_go_before_those_that_did() -> None:
    door, everyone = ServerConnections(32, 10), set[Fake]()
    asked = [Fake(idle=True) for _ in range(10)]
    arrive(door, everyone, *asked, *(Fake("10.0.0.2") for _ in range(50)))
    assert not any(one.closed for one in asked)


async def test_beyond_the_reserve_a_connection_is_cut() -> None:
    door, everyone = ServerConnections(16, 10), set[Fake]()
    busy = [Fake() for _ in range(16 + RESERVE + 1)]
    for one in busy:
        arrive(door, everyone, one)
        door.resting.pop(one, None)  # its request is in work
    assert [one.closed for one in busy].index(True) == 16 + RESERVE
    assert door.full


async def test_a_full_server_says_so_and_that_it_is_alive(tmp_path: Path) -> None:
    async with served(tmp_path, api_key=KEY, max_connections=16) as server, AsyncExitStack() as held:
        target = Target(server.address)
        for _ in range(17):
            line = await held.enter_async_context(open_wire(target))
            await line.send(build_head("POST", "/api/v1/chat", BODY))
        async with httpx.AsyncClient(base_url=server.address, headers={"X-API-Key": KEY}) as http:
            assert (await http.get("/api/v1/health")).status_code == 200
            refused = await http.get("/v1/models")
            assert refused.status_code == 503
        async with open_wire(target) as socket:
            upgrade = [("Upgrade", "websocket"), ("Connection", "Upgrade")]
            await socket.send(build_head("GET", "/api/v1/agent/ws", upgrade))
            assert await socket.read_status(10) == 503


async def test_the_oldest_stranger_is_waited_for_no_longer() -> None:
    strangers, ended, enough = UnidentifiedSockets(2), list[int](), asyncio.Event()

    async def wait(number: int) -> None:
        try:
            async with strangers.wait_for_one(60):
                await asyncio.sleep(60)
        except TimeoutError:
            ended.append(number)
            if len(ended) == 3:
                enough.set()

    waits = [asyncio.create_task(wait(number)) for number in range(5)]
    await enough.wait()
    assert sorted(ended) == [0, 1, 2]
    for task in waits:
        task.cancel()
    await asyncio.gather(*waits, return_exceptions=True)


def test_forwarding_headers_are_believed_only_of_proxies_that_are_named(tmp_path: Path) -> None:
    for trusted, believed in (("", False), ("10.0.0.5,10.1.0.0/16", True)):
        settings = Settings(data_dir=tmp_path, embedder="hash", trusted_proxies=trusted)
        config = build_server_config(create_app(settings), settings)
        config.load()
        proxy = config.loaded_app
        assert isinstance(proxy, ProxyHeadersMiddleware) == believed
        if isinstance(proxy, ProxyHeadersMiddleware):
            assert "10.1.2.3" in proxy.trusted_hosts and "127.0.0.1" not in proxy.trusted_hosts


@pytest.mark.parametrize(
    "wrong", [{"allowed_hosts": "https://a.example"}, {"allowed_hosts": "a:80"}, {"trusted_proxies": "proxy"}]
)
def test_names_and_networks_that_cannot_be_are_refused_at_start(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).upper()):
        Settings(**wrong)
