from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents.types import Answer, Outcome, Replace, Token
from app.chat.stream import encode_turn
from app.chat.types import ChatEvent, TurnDone, TurnStarted
from knowledge.errors import IndexUnavailable

STARTED = TurnStarted("s", "m", "t", "knowledge", "knowledge")
DONE = TurnDone("s", "m", "t", Answer("你好", Outcome.ANSWERED, "greeting", "chitchat"), {"total": 1.0})


def parse(frame: str) -> tuple[str, dict[str, Any]]:
    event, data, *rest = frame.split("\n")
    assert rest == ["", ""]
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def turn(*events: ChatEvent | Exception | float) -> AsyncIterator[ChatEvent]:
    """Events, errors to raise and seconds to wait, in order."""
    for event in events:
        if isinstance(event, Exception):
            raise event
        if isinstance(event, float):
            await asyncio.sleep(event)
        else:
            yield event


async def frames(events: AsyncIterator[ChatEvent], **options: Any) -> list[tuple[str, dict[str, Any]]]:
    draining = options.pop("draining", asyncio.Event())
    return [parse(frame) async for frame in encode_turn(events, "r1", draining, **options)]


async def test_a_turn_is_meta_tokens_and_done_with_the_type_in_the_data() -> None:
    result = await frames(turn(STARTED, Token("你"), Token("好"), Replace("您好"), DONE))
    assert [kind for kind, _ in result] == ["meta", "token", "token", "replace", "done"]
    assert all(data["type"] == kind for kind, data in result)
    assert result[0][1]["session_id"] == "s"
    assert result[-1][1] == {"type": "done"} | DONE.build_response()


async def test_an_error_within_the_stream_is_its_last_event() -> None:
    result = await frames(turn(STARTED, IndexUnavailable("disk")))
    assert [kind for kind, _ in result] == ["meta", "error"]
    error = result[-1][1]["error"]
    assert (error["code"], error["request_id"]) == ("index_unavailable", "r1")


async def test_a_silent_stream_is_kept_open_by_pings() -> None:
    result = await frames(turn(STARTED, 0.2, DONE), ping_seconds=0.05)
    kinds = [kind for kind, _ in result]
    assert kinds[0] == "meta" and kinds[-1] == "done" and kinds.count("ping") >= 2


async def test_a_client_that_leaves_cancels_the_work() -> None:
    cancelled = asyncio.Event()

    async def endless() -> AsyncIterator[ChatEvent]:
        try:
            yield STARTED
            await asyncio.sleep(600)
        finally:
            cancelled.set()

    stream = encode_turn(endless(), "r1", asyncio.Event())
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(cancelled.wait(), 60)


async def test_a_stream_ends_with_an_error_when_the_server_stops_waiting_for_it() -> None:
    draining = asyncio.Event()
    draining.set()
    result = await frames(turn(STARTED, 60.0, DONE), draining=draining, drain_seconds=0.05)
    assert [kind for kind, _ in result] == ["meta", "error"]
    assert result[-1][1]["error"]["code"] == "shutting_down"


async def test_a_stream_that_finishes_in_time_is_not_disturbed_by_the_stop() -> None:
    draining = asyncio.Event()
    draining.set()
    result = await frames(turn(STARTED, 0.02, DONE), draining=draining, drain_seconds=1)
    assert result[-1][0] == "done"
