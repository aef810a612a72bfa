"""DingTalk's stream mode: messages come over a WebSocket that is opened to the platform, so that nothing of ours has to
be reachable from the internet. After the public protocol of its SDKs.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from loguru import logger
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from app.channels.client import PlatformClient
from app.channels.errors import PlatformUnavailable, describe_error
from app.errors import InvalidRequest

OPEN = "/v1.0/gateway/connections/open"
MESSAGES = "/v1.0/im/bot/messages/get"
MAX_BYTES = 512 * 1024
"""Of a frame."""
SECONDS = 10.0
Handle = Callable[[Mapping[str, Any]], Awaitable[None]]


async def open_stream(client: PlatformClient, base: str, key: str, secret: str) -> str:
    """The address of a new connection. Raises PlatformUnavailable, PlatformRefused."""
    body = {
        "clientId": key,
        "clientSecret": secret,
        "subscriptions": [{"type": "CALLBACK", "topic": MESSAGES}],
        "ua": "yingda/1",
    }
    told = await client.call("POST", f"{base}{OPEN}", json=body)
    endpoint, ticket = told.get("endpoint"), told.get("ticket")
    if not isinstance(endpoint, str) or not isinstance(ticket, str):
        raise PlatformUnavailable("the response has no endpoint")
    return f"{endpoint}?ticket={quote(ticket, safe='')}"


async def read_stream(address: str, handle: Handle) -> None:
    """Takes frames until the platform ends the connection, as it does now and then. handle: keeps a message, which is
    acknowledged afterwards. Raises PlatformUnavailable.
    """
    try:
        async with connect(address, max_size=MAX_BYTES, open_timeout=SECONDS, proxy=None) as socket:
            async for raw in socket:
                if not await _answered(socket, _frame(raw), handle):
                    return
    except (WebSocketException, OSError, TimeoutError) as error:
        raise PlatformUnavailable(describe_error(error)) from error


async def _answered(socket: ClientConnection, frame: Mapping[str, Any], handle: Handle) -> bool:
    """False where the platform is going to end the connection."""
    headers = frame.get("headers")
    headers = headers if isinstance(headers, dict) else {}
    kind, topic, code = frame.get("type"), headers.get("topic"), 200
    if kind == "SYSTEM" and topic == "disconnect":
        return False
    data: object = frame.get("data") if kind == "SYSTEM" else json.dumps({"response": None})
    if kind == "CALLBACK" and topic == MESSAGES:
        try:
            await handle(_frame(frame.get("data")))
        except InvalidRequest:  # told to the platform, and the next one may be readable
            logger.warning("a frame of DingTalk cannot be read")
            code = 400
    told = {"messageId": headers.get("messageId"), "contentType": "application/json"}
    await socket.send(json.dumps({"code": code, "headers": told, "message": "OK", "data": data}))
    return True


def _frame(raw: object) -> Mapping[str, Any]:
    """Empty for what is no JSON object."""
    try:
        told = json.loads(raw) if isinstance(raw, str | bytes) else {}
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
