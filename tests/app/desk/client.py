"""Clients of the desk's WebSockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

Frame = dict[str, Any]


class Talker:
    """Keeps every frame that comes."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[Frame] = []
        self.news = asyncio.Event()

    async def send(self, kind: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": kind} | fields))

    def of(self, kind: str) -> list[Frame]:
        return [frame for frame in self.frames if frame["type"] == kind]

    async def until(self, there: Callable[[Frame], bool], seconds: float = 90) -> Frame:
        """The first frame that is so, waited for."""
        async with asyncio.timeout(seconds):
            while True:
                self.news.clear()
                for frame in self.frames:
                    if there(frame):
                        return frame
                await self.news.wait()

    async def read(self) -> None:
        async for text in self.connection:
            self.frames.append(json.loads(text))
            self.news.set()
        self.news.set()


@asynccontextmanager
async def talking(address: str, path: str, **options: Any) -> AsyncIterator[Talker]:
    """A connection that is read all the time."""
    async with connect(address.replace("http", "ws", 1) + path, **options) as connection:
        talker = Talker(connection)
        reading = asyncio.create_task(talker.read())
        try:
            yield talker
        finally:
            reading.cancel()
