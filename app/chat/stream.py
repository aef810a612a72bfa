"""Events of a turn as Server-Sent Events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from agents.types import Evidence, Replace, Token
from app.chat.types import ChatEvent, TurnDone, TurnStarted
from app.errors import ShuttingDown, describe

PING_SECONDS = 15.0
"""Proxies close a connection that is silent for 30 to 60 s."""
DRAIN_SECONDS = 5.0
"""How long a running stream may go on once the server stops."""
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
"""Against proxies that collect a response before they pass it on."""


async def server_sent(
    events: AsyncIterator[ChatEvent],
    request_id: str,
    draining: asyncio.Event,
    ping_seconds: float = PING_SECONDS,
    drain_seconds: float = DRAIN_SECONDS,
) -> AsyncIterator[str]:
    """`meta`, `token`*, `replace`?, `ping`s in between, then `done` or `error`; the type stands inside the data too.

    An error before or within the stream becomes its last event. Closing this iterator (the client left) cancels the
    work. Once `draining` is set a stream has `drain_seconds` left.
    """
    queue: asyncio.Queue[ChatEvent | Exception | None] = asyncio.Queue(maxsize=32)
    work = asyncio.create_task(_pump(events, queue))
    limit = asyncio.create_task(_limit(draining, drain_seconds, queue))
    try:
        while True:
            try:
                async with asyncio.timeout(ping_seconds):
                    item = await queue.get()
            except TimeoutError:
                yield encode("ping", {})
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                yield encode("error", describe(item).body(request_id))
                return
            if not isinstance(item, Evidence):
                yield encode(*_payload(item))
    finally:
        for task in (work, limit):
            task.cancel()
        await asyncio.gather(work, limit, return_exceptions=True)


def encode(kind: str, data: dict[str, Any]) -> str:
    """One event on the wire."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | data, ensure_ascii=False)}\n\n"


async def _pump(events: AsyncIterator[ChatEvent], queue: asyncio.Queue[ChatEvent | Exception | None]) -> None:
    """Runs the turn in one task of its own: libraries below may not like to be resumed in another."""
    try:
        async for event in events:
            await queue.put(event)
    except Exception as error:
        await queue.put(error)
    else:
        await queue.put(None)


async def _limit(draining: asyncio.Event, seconds: float, queue: asyncio.Queue[ChatEvent | Exception | None]) -> None:
    await draining.wait()
    await asyncio.sleep(seconds)
    await queue.put(ShuttingDown("服务正在重启，请稍后重新发送。"))


def _payload(event: TurnStarted | Token | Replace | TurnDone) -> tuple[str, dict[str, Any]]:
    match event:
        case TurnStarted():
            return "meta", asdict(event)
        case Token(text):
            return "token", {"text": text}
        case Replace(text):
            return "replace", {"text": text}
        case TurnDone():
            return "done", event.response()
