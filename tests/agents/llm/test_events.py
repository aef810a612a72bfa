"""Events of a streamed reply, however the bytes are cut."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from agents.llm.events import EventReader

WIRE = (
    b': hello\r\n\r\ndata: {"a": "\xe9\x80\x80"}\r\n\r\nevent: x\ndata: {"b":\ndata: 2}\n\n'
    b'data: [DONE]\n\ndata: {"late": 1}\n\n'
)
FOUND: list[Any] = [{"a": "退"}, {"b": 2}]


async def read(*pieces: bytes) -> list[Any]:
    async def sent() -> Any:
        for piece in pieces:
            yield piece

    events = EventReader(httpx.Response(200, content=sent()).aiter_bytes())
    found = []
    while (event := await events.read_event()) is not None:
        found.append(event)
    return found


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_the_cuts_of_the_network_mean_nothing(size: int) -> None:
    assert await read(*(WIRE[start : start + size] for start in range(0, len(WIRE), size))) == FOUND


async def test_the_last_event_needs_no_empty_line() -> None:
    assert await read(b'data: {"a": 1}\n') == [{"a": 1}]
    assert await read(b"data: [DONE]\n") == []


async def test_what_is_no_json_or_never_ends_is_refused() -> None:
    with pytest.raises(ValueError):
        await read(b"data: {not json\n\n")
    with pytest.raises(ValueError, match="without end"):
        await read(b"data: ", *[b"x" * 2**16] * 20)
