from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from agents.types import Answer, Outcome, Replace, Token
from app.chat.event_format import encode_item
from app.chat.turn_response import TurnResponse
from app.chat.types import ChatEvent, RunTurn, SendEvent, TurnDone, TurnStarted
from app.errors import RateLimited
from app.limits.leases import Lease
from knowledge.errors import IndexUnavailable

STARTED = TurnStarted("s", "m", "t", "knowledge", "knowledge")
DONE = TurnDone("s", "m", "t", Answer("你好", Outcome.ANSWERED, "greeting", "chitchat"), {"total": 1.0})


def parse(frame: str) -> tuple[str, dict[str, Any]]:
    event, data, *rest = frame.split("\n")
    assert rest == ["", ""]
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def turn(*events: ChatEvent | Exception | float) -> RunTurn:
    """Events, errors to raise and seconds to wait, in order."""

    async def run(send: SendEvent) -> None:
        for event in events:
            if isinstance(event, Exception):
                raise event
            if isinstance(event, float):
                await asyncio.sleep(event)
            else:
                await send(event)

    return run


async def respond(run: RunTurn, left: asyncio.Event | None = None, **options: Any) -> list[Message]:
    """What is sent to a client, who leaves when `left` is set."""
    sent: list[Message] = []
    left = left or asyncio.Event()

    async def receive() -> Message:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    draining = options.pop("draining", asyncio.Event())
    request = Request({"type": "http"})
    response = TurnResponse(run, partial(encode_item, request_id="r1"), request, Lease(), draining, **options)
    await response(request.scope, receive, send)
    return sent


async def frames(run: RunTurn, **options: Any) -> list[tuple[str, dict[str, Any]]]:
    sent = await respond(run, **options)
    assert sent[0]["status"] == 200
    return [parse(message["body"].decode()) for message in sent[1:-1]]


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
    left, cancelled = asyncio.Event(), asyncio.Event()

    async def run_endlessly(send: SendEvent) -> None:
        await send(STARTED)
        left.set()
        try:
            await asyncio.sleep(600)
        finally:
            cancelled.set()

    sent = await asyncio.wait_for(respond(run_endlessly, left), 60)
    assert cancelled.is_set() and len(sent) == 2


async def test_a_client_that_leaves_before_the_first_event_gets_the_status_of_that() -> None:
    left = asyncio.Event()
    left.set()
    sent = await asyncio.wait_for(respond(turn(600.0), left), 60)
    assert sent[0]["status"] == 499


async def test_what_is_refused_before_the_first_event_is_told_by_the_status_alone() -> None:
    refusal = RateLimited("太频繁", retry_after=3)
    with pytest.raises(RateLimited):
        await respond(turn(refusal), refusals=(RateLimited,))
    assert [kind for kind, _ in await frames(turn(STARTED, refusal), refusals=(RateLimited,))] == ["meta", "error"]
    told = await frames(turn(IndexUnavailable("disk")), refusals=(RateLimited,))
    assert [kind for kind, _ in told] == ["error"]


async def test_a_client_that_does_not_read_gets_no_pings_on_top() -> None:
    sent: list[Message] = []
    reads = asyncio.Event()

    async def send(message: Message) -> None:
        sent.append(message)
        await reads.wait()

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    request = Request({"type": "http"})
    encode = partial(encode_item, request_id="r1")
    response = TurnResponse(turn(STARTED, DONE), encode, request, Lease(), asyncio.Event(), ping_seconds=0.02)
    answering = asyncio.create_task(response(request.scope, receive, send))
    await asyncio.sleep(0.2)
    assert [message["type"] for message in sent] == ["http.response.start"]
    reads.set()
    await asyncio.wait_for(answering, 60)
    assert [parse(message["body"].decode())[0] for message in sent[1:-1]] == ["meta", "done"]


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
