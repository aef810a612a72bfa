"""Customers and staff who use the desk at random, over a server that restarts and sockets that break."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from app.wiring.container import Container
from tests.app.serving import served

# What a restart looks like from outside.
BROKEN = (httpx.TransportError, WebSocketException, OSError, EOFError)
PATIENCE = 60


class House:
    """One server after another over the same data."""

    def __init__(self, data_dir: Path, **settings: Any) -> None:
        self._data_dir = data_dir
        self._settings = settings
        self._up = asyncio.Event()
        self._again = asyncio.Event()
        self._over = False
        self._client = httpx.AsyncClient(timeout=PATIENCE)
        self.address = ""
        self.restarts = -1
        self.container: Container | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        serving = asyncio.create_task(self._serve())
        await self._up.wait()
        try:
            yield
        finally:
            self._over = True
            self._again.set()
            await serving
            await self._client.aclose()

    async def restart(self) -> None:
        """Returns once the next server answers."""
        self._up.clear()
        self._again.set()
        await self._up.wait()

    async def call(self, method: str, path: str, **body: Any) -> httpx.Response:
        """Again after a restart: only what may be said twice is said through this."""
        while True:
            await self._up.wait()
            try:
                return await self._client.request(method, f"{self.address}/api/v1{path}", json=body or None)
            except BROKEN:
                await asyncio.sleep(0.02)

    async def connect(self, path: str) -> ClientConnection:
        while True:
            await self._up.wait()
            try:
                address = self.address.replace("http", "ws", 1) + f"/api/v1{path}"
                return await connect(address, open_timeout=PATIENCE, compression=None)
            except BROKEN:
                await asyncio.sleep(0.02)

    async def _serve(self) -> None:
        while not self._over:
            self._again.clear()
            async with served(self._data_dir, _env_file=None, **self._settings) as running:
                self.address, self.container = running.address, running.container
                self.restarts += 1
                self._up.set()
                await self._again.wait()


class Customer:
    """Writes one message after the other, each until it is acknowledged, and keeps what it reads.

    `noted`: what staff should find among the messages, in order; `maybe`: texts that they may find besides, where the
    customer began to wait while the bot answered. `read`: numbers and texts as they came.
    """

    def __init__(self, house: House, session: str, random: Random) -> None:
        self._house = house
        self._random = random
        self._socket: ClientConnection | None = None
        self._count = 0
        self.session = session
        self.noted: list[str] = []
        self.maybe: set[str] = set()
        self.read: list[tuple[int, str]] = []
        self.state = ""

    async def say(self, text: str = "") -> str:
        """Returns the outcome; a message that staff have already and that is sent again is `received`."""
        self._count += 1
        mark = f"{self.session}-{self._count}"
        text = text or f"{mark} 说的话"
        while True:
            try:
                socket = await self._line()
                await socket.send(json.dumps({"type": "message", "content": text, "id": mark}))
                while True:
                    frame = await self._next(socket)
                    if frame.get("id") == mark and frame["type"] in ("done", "received", "error"):
                        assert frame["type"] != "error", frame
                        outcome = str(frame.get("outcome", "received"))
                        self._note(text, outcome, frame.get("data", {}))
                        return outcome
            except BROKEN:
                self._socket = None

    def _note(self, text: str, outcome: str, data: dict[str, Any]) -> None:
        """To a person, or heard by the bot of who waited already."""
        waiting = data.get("handoff", {}).get("state") == "queued"
        if outcome == "received" or data["agent"] == "desk" or (waiting and outcome != "handoff"):
            self.noted.append(text)
        else:
            self.maybe.add(text)

    async def until(self, *states: str) -> str:
        """Reads until the session is in one of these states."""
        while self.state not in states:
            try:
                await self._next(await self._line())
            except BROKEN:
                self._socket = None
        return self.state

    async def catch_up(self, last: int) -> None:
        """Reads up to a number."""
        while not self.read or self.read[-1][0] < last:
            try:
                await self._next(await self._line())
            except BROKEN:
                self._socket = None

    async def drop(self) -> None:
        """The connection breaks, perhaps with frames on their way."""
        if self._socket is not None:
            self._socket.transport.abort()
            self._socket = None

    async def maybe_drop(self) -> None:
        if self._random.random() < 0.2:
            await self.drop()

    async def _line(self) -> ClientConnection:
        if self._socket is None:
            after = self.read[-1][0] if self.read else 0
            self._socket = await self._house.connect(f"/conversations/{self.session}/ws?after={after}")
            self.state = ""
        return self._socket

    async def _next(self, socket: ClientConnection) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            frame: dict[str, Any] = json.loads(await socket.recv())
        if frame["type"] == "message":
            self.read.append((frame["seq"], frame["content"]))
        elif frame["type"] == "handoff" and "id" not in frame:
            self.state = frame["state"]
        return frame


class Person:
    """A member of staff, by HTTP. `said`: what was acknowledged, in order."""

    def __init__(self, house: House, session: str) -> None:
        self._house = house
        self._path = f"/agent/sessions/{session}"
        self._count = 0
        self.said: list[str] = []

    async def accept(self, *names: str) -> str:
        """Several try at once; returns who won. A restart may hide from the winner that it won."""
        tries = await asyncio.gather(
            *(self._house.call("POST", f"{self._path}/accept", agent_id=name) for name in names)
        )
        assert {response.status_code for response in tries} <= {200, 409}, [item.text for item in tries]
        winners = [name for name, response in zip(names, tries, strict=True) if response.status_code == 200]
        holder = str((await self._house.call("GET", self._path)).json()["agent_id"])
        assert len(winners) <= 1 and (not winners or winners == [holder])
        return holder

    async def say(self, name: str) -> None:
        self._count += 1
        mark = f"{name}-{self._count}"
        text = f"{self._path} {mark} 回的话"
        response = await self._house.call("POST", f"{self._path}/messages", content=text, agent_id=name, id=mark)
        assert response.status_code == 201, response.text
        self.said.append(text)

    async def step(self, action: str, **body: Any) -> None:
        """A transition; said twice because of a restart the second is a conflict."""
        response = await self._house.call("POST", f"{self._path}/{action}", **body)
        assert response.status_code in (200, 409), response.text
