"""DingTalk's stream mode: messages come over a WebSocket to the platform, so that the server need not be reachable from
the internet. It follows the public protocol of the platform's SDKs.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from loguru import logger
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from app.channels.client import PlatformClient, require_text
from app.channels.errors import PlatformUnavailable, describe_error
from app.errors import InvalidRequest

OPEN = "/v1.0/gateway/connections/open"
MESSAGES = "/v1.0/im/bot/messages/get"
# Maximum bytes of a frame.
MAX_BYTES = 512 * 1024
# Until the platform has opened a connection.
SECONDS = 10.0
Handle = Callable[[Mapping[str, Any]], Awaitable[None]]


async def open_stream(client: PlatformClient, base: str, key: str, secret: str) -> str:
    """Asks for a new connection.

    Args:
        client: Calls the platform.
        base: The address of the platform's interface.
        key: The app key.
        secret: The app secret.

    Returns:
        The address to connect to.

    Raises:
        PlatformUnavailable: It may succeed later.
        PlatformRefused: It will never succeed.
    """
    body = {
        "clientId": key,
        "clientSecret": secret,
        "subscriptions": [{"type": "CALLBACK", "topic": MESSAGES}],
        "ua": "yingda/1",
    }
    data = await client.request_json("POST", f"{base}{OPEN}", json=body)
    return f"{require_text(data, 'endpoint')}?ticket={quote(require_text(data, 'ticket'), safe='')}"


async def read_stream(address: str, handle: Handle) -> None:
    """Handles frames until the platform ends the connection, as it does from time to time.

    Args:
        address: The address from `open_stream`.
        handle: Saves a message, which is acknowledged afterwards.

    Raises:
        PlatformUnavailable: The connection was lost.
    """
    try:
        async with connect(address, max_size=MAX_BYTES, open_timeout=SECONDS, proxy=None) as socket:
            async for raw in socket:
                if not await _handle_frame(socket, _parse_frame(raw), handle):
                    return
    except (WebSocketException, OSError, TimeoutError) as error:
        raise PlatformUnavailable(describe_error(error)) from error


async def _handle_frame(socket: ClientConnection, frame: Mapping[str, Any], handle: Handle) -> bool:
    """Handles one frame; returns False if the platform is about to end the connection."""
    headers = frame.get("headers")
    headers = headers if isinstance(headers, dict) else {}
    kind, topic, code = frame.get("type"), headers.get("topic"), 200
    if kind == "SYSTEM" and topic == "disconnect":
        return False
    data: object = frame.get("data") if kind == "SYSTEM" else json.dumps({"response": None})
    if kind == "CALLBACK" and topic == MESSAGES:
        try:
            await handle(_parse_frame(frame.get("data")))
        except InvalidRequest:  # reported to the platform, and the next one may be readable
            logger.warning("a frame of DingTalk cannot be read")
            code = 400
    reply_headers = {"messageId": headers.get("messageId"), "contentType": "application/json"}
    await socket.send(json.dumps({"code": code, "headers": reply_headers, "message": "OK", "data": data}))
    return True


def _parse_frame(raw: object) -> Mapping[str, Any]:
    """Parses a frame; empty if it is no JSON object."""
    try:
        data = json.loads(raw) if isinstance(raw, str | bytes) else {}
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
