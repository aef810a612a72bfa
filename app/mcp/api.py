"""`POST /mcp`: MCP over streamable HTTP, without sessions, so that any replica answers any request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import httpx
import orjson
from fastapi import APIRouter, Request, Response
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Message, Receive, Scope, Send

from app.client.yingda_client import AsyncClient
from app.http.deps import TurnTenant, get_container
from app.http.routes import GuardedRoute
from app.mcp.server import Caller, Context, build_server

router = APIRouter(tags=["mcp"], route_class=GuardedRoute)

_FORWARDED_HEADERS = ("x-user-token", "x-session-token", "accept-language", "traceparent")
# What the request outside found out of its caller: calls inside are neither signed in nor counted again.
_CALLER_STATE = ("principal", "sender", "tenant")


@router.post("/mcp", include_in_schema=False)
async def call_mcp(request: Request, tenant: TurnTenant) -> Response:
    """Handles one message of the protocol. It counts once for the rate limits, however many calls it causes.

    Raises the refusal of a caller who is over a limit, after a pause.
    """
    body = await request.body()
    refusal = request.state.sender.refusal
    # A customer's message goes on: the chat decides there, as urgent messages are answered beyond the limits.
    if refusal is not None and not _is_customer_message(body):
        await get_container(request).limits.pause()
        raise refusal
    return McpResponse(body)


class McpResponse(Response):
    """The SDK's response to a message."""

    def __init__(self, message: bytes) -> None:
        super().__init__()
        self._message = message

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request with a manager of its own, since a manager runs only once."""
        read = False

        async def receive_message() -> Message:
            nonlocal read
            if read:
                return await receive()
            read = True
            return {"type": "http.request", "body": self._message, "more_body": False}

        manager = StreamableHTTPSessionManager(_get_server(), stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive_message, send)


@cache
def _get_server() -> Server[Any]:
    return build_server(open_caller)


@asynccontextmanager
async def open_caller(ctx: Context) -> AsyncIterator[Caller]:
    """Gives a client that calls this server in process, as the caller whose request was admitted."""
    request = ctx.request
    assert isinstance(request, Request)
    outer = request.scope

    async def call_app(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {name: outer["state"][name] for name in _CALLER_STATE}
        scope["app"] = outer["app"]
        await outer["app"](scope, receive, send)

    client = (request.client.host, request.client.port) if request.client else ("127.0.0.1", 0)
    transport = httpx.ASGITransport(app=call_app, client=client)
    headers = {name: value for name in _FORWARDED_HEADERS if (value := request.headers.get(name))}
    headers["x-request-id"] = outer["state"]["request_id"]
    address = f"http://{request.headers['host']}"
    async with AsyncClient(address, transport=transport, headers=headers, retries=0) as api:
        yield Caller(api, outer["state"]["principal"].roles)


def _is_customer_message(body: bytes) -> bool:
    """Whether a request is a customer's message, which may be urgent."""
    try:
        message = orjson.loads(body)
        return bool(message["method"] == "tools/call" and message["params"]["name"] == "ask")
    except (ValueError, TypeError, KeyError):
        return False
