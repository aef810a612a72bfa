"""How many layers a token of a language model passes until it is on the wire."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from scripts.scripted_llm import Say
from tests.app.chat.test_chat_llm import ARRIVES, QUESTION, opened
from tests.app.chat.token_layers import MARK, record_layers

# The token is in the second sentence: the first one tells which of several models is heard.
REPLY = f"退款原路退回。[1]{ARRIVES}[1]"
# Each is what was reached; a layer more needs a reason.
MOST_SSE, MOST_OPENAI, MOST_SOCKET = 7, 7, 8


async def test_a_token_passes_few_layers_to_a_stream_of_events(tmp_path: Path) -> None:
    async with opened(tmp_path, Say(REPLY)) as (client, _):
        with record_layers() as layers:
            sent = await client.post("/api/v1/chat/stream", json={"message": QUESTION})
    assert MARK in sent.text
    assert len(layers) <= MOST_SSE, "\n".join(layers)


async def test_a_token_passes_few_layers_to_a_client_of_openai(tmp_path: Path) -> None:
    asked = {"model": "yingda", "stream": True, "messages": [{"role": "user", "content": QUESTION}]}
    async with opened(tmp_path, Say(REPLY)) as (client, _):
        with record_layers() as layers:
            sent = await client.post("/v1/chat/completions", json=asked)
    assert MARK in sent.text
    assert len(layers) <= MOST_OPENAI, "\n".join(layers)


async def test_a_token_passes_few_layers_to_a_websocket(tmp_path: Path) -> None:
    async with opened(tmp_path, Say(REPLY)) as (client, _):
        assert isinstance(client._transport, httpx.ASGITransport)
        with record_layers() as layers:
            sent = await _ask_over_socket(client._transport.app)
    assert MARK in sent
    assert len(layers) <= MOST_SOCKET, "\n".join(layers)


async def _ask_over_socket(app: ASGIApp) -> str:
    """Asks the question in a conversation of its own and returns the text of the tokens."""
    frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    texts = list[str]()
    frames.put_nowait({"type": "websocket.connect"})
    for frame in ({"type": "hello"}, {"type": "message", "content": QUESTION}):
        frames.put_nowait({"type": "websocket.receive", "text": json.dumps(frame)})

    async def send(message: Any) -> None:
        told = json.loads(message.get("text", "{}"))
        texts.append(told.get("text", ""))
        if told.get("type") == "done":
            frames.put_nowait({"type": "websocket.disconnect", "code": 1000})

    scope = {
        "type": "websocket",
        "http_version": "1.1",
        "path": "/api/v1/conversations/s/ws",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1")],
        "client": ("127.0.0.1", 1),
        "subprotocols": [],
    }
    await asyncio.wait_for(app(scope, frames.get, send), 60)
    return "".join(texts)
