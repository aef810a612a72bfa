"""Events of a turn as Server-Sent Events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Any

from agents.types import Evidence, Replace, Routed, Settled, Token
from app.chat.types import ChatEvent, TurnDone, TurnHandoff, TurnStarted
from app.errors import ShuttingDown, describe
from app.idempotency.types import KeptResponse

# Proxies close a connection that is silent for 30 to 60 s.
PING_SECONDS = 15.0
# How long a running stream may go on once the server stops.
DRAIN_SECONDS = 5.0
RESTARTING = "服务正在重启，请稍后重新发送。"
MEDIA_TYPE = "text/event-stream"
# Against proxies that collect a response before they pass it on.
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

Items = AsyncGenerator[ChatEvent | Exception | None, None]


def encode_turn(
    events: AsyncIterator[ChatEvent],
    request_id: str,
    draining: asyncio.Event,
    ping_seconds: float = PING_SECONDS,
    drain_seconds: float = DRAIN_SECONDS,
) -> AsyncIterator[str]:
    """Encodes a turn as Server-Sent Events. See `stream_with_pings` and `encode_frames`."""
    return encode_frames(stream_with_pings(events, draining, ping_seconds, drain_seconds), request_id)


async def encode_frames(items: Items, request_id: str) -> AsyncGenerator[str]:
    """`meta`, `token`*, `replace`?, `handoff`?, `ping`s in between, then `done` or `error`; the type stands inside the
    data too.
    """
    async with aclosing(items):
        async for item in items:
            if item is None:
                yield encode_event("ping", {})
            elif isinstance(item, Exception):
                yield encode_event("error", describe(item).build_body(request_id))
            elif not isinstance(item, Evidence | Routed | Settled):
                yield _encode_chat_event(item)


async def stream_with_pings(
    events: AsyncIterator[ChatEvent],
    draining: asyncio.Event,
    ping_seconds: float = PING_SECONDS,
    drain_seconds: float = DRAIN_SECONDS,
) -> Items:
    """The events of a turn for whoever writes them to a connection; None after every `ping_seconds` of silence.

    An error before or within the turn becomes the last item. Closing this iterator (the client left) cancels the work.
    Once `draining` is set a stream has `drain_seconds` left.
    """
    queue: asyncio.Queue[ChatEvent | Exception | None] = asyncio.Queue(maxsize=32)
    work = asyncio.create_task(_feed_queue(events, queue))
    limit = asyncio.create_task(_limit_drain(draining, drain_seconds, queue))
    try:
        while True:
            try:
                async with asyncio.timeout(ping_seconds):
                    item = await queue.get()
            except TimeoutError:
                yield None
                continue
            if item is None:
                return
            yield item
            if isinstance(item, Exception):
                return
    finally:
        for task in (work, limit):
            task.cancel()
        await asyncio.gather(work, limit, return_exceptions=True)


async def wait_for_first(
    items: Items, left: Coroutine[Any, Any, None], raised: tuple[type[Exception], ...] = (Exception,)
) -> Items | None:
    """The same items once the first is there; None when the client left before. Raises the first one if it is `raised`:
    nothing was sent yet, so that the status can tell.

    left: returns when the client leaves; until a response begins nobody else looks.
    """
    first, gone = asyncio.ensure_future(anext(items)), asyncio.ensure_future(left)
    try:
        await asyncio.wait({first, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if not first.done():
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            await items.aclose()
    if first.cancelled():
        return None
    item = first.result()
    if isinstance(item, raised):
        await items.aclose()
        raise item
    return _yield_from_first(item, items)


async def encode_kept_response(reply: KeptResponse) -> AsyncIterator[str]:
    """Encodes a turn that was answered before as events: the reply comes in one piece."""
    response: dict[str, Any] = json.loads(reply.body)
    data, secret = response["data"], {"session_token": reply.token} if reply.token else {}
    about = {name: response[name] for name in ("session_id", "message_id")}
    about |= {name: data[name] for name in ("trace_id", "agent", "intent")}
    yield encode_event("meta", about | secret)
    yield encode_event("token", {"text": response["reply"]})
    if "handoff" in data:
        yield encode_event("handoff", data["handoff"])
    yield encode_event("done", response | secret)


def encode_event(kind: str, data: dict[str, Any]) -> str:
    """Encodes one event as it is sent."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | data, ensure_ascii=False)}\n\n"


async def _yield_from_first(first: ChatEvent | Exception | None, items: Items) -> Items:
    async with aclosing(items):
        yield first
        async for item in items:
            yield item


async def _feed_queue(events: AsyncIterator[ChatEvent], queue: asyncio.Queue[ChatEvent | Exception | None]) -> None:
    """Runs the turn in one task of its own: libraries below may not like to be resumed in another."""
    try:
        async for event in events:
            await queue.put(event)
            await asyncio.sleep(0)  # whoever sends it comes first, however many tokens are there already
    except Exception as error:
        await queue.put(error)
    else:
        await queue.put(None)


async def _limit_drain(
    draining: asyncio.Event, seconds: float, queue: asyncio.Queue[ChatEvent | Exception | None]
) -> None:
    await draining.wait()
    await asyncio.sleep(seconds)
    await queue.put(ShuttingDown(RESTARTING))


def _encode_chat_event(event: TurnStarted | Token | Replace | TurnHandoff | TurnDone) -> str:
    match event:
        case TurnStarted():
            return encode_event("meta", event.build_body())
        case Token(text):
            return encode_event("token", {"text": text})
        case Replace(text):
            return encode_event("replace", {"text": text})
        case TurnHandoff(queue):
            return encode_event("handoff", queue.build_body())
        case TurnDone():
            return f'event: done\ndata: {{"type":"done",{event.full_body.decode()[1:]}\n\n'
