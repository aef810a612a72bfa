"""Bytes and time of a request's body, before anything of it is kept.

Starlette has a middleware for the bytes alone; it sets no time, and it turns the 401 of a request that declares too
much into a 413 of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import InvalidRequest, PayloadTooLarge, RequestTimeout

# The server sets it in the state of a request that is here as a whole: to wait for it needs no timeout, which costs 8
# µs.
RECEIVED = "received"
# A client that sends slower than this, after the first seconds, is cut.
BYTES_PER_SECOND = 4096


class BodyMiddleware:
    """Bounds bodies where they are read, so that a request without a key is refused before its body is looked at."""

    def __init__(self, app: ASGIApp, most: int, larger: Mapping[str, int], seconds: float) -> None:
        """most: bytes of a body; larger: the same for single paths, or for
        all that end with this part; seconds: time for a body, beside its length."""
        self._app = app
        self._most = most
        self._larger = larger
        self.seconds = seconds

    def get_limit(self, scope: Scope) -> int:
        """Bytes that a request may bring."""
        path: str = scope["path"]
        return self._larger.get(path) or self._larger.get(path.rpartition("/")[2], self._most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            receive = _Body(self, scope, receive).receive_message
        await self._app(scope, receive, send)


class _Body:
    """The body of one request as it comes in."""

    __slots__ = ("_deadline", "_finished", "_most", "_receive", "_received", "_rules", "_scope")

    def __init__(self, rules: BodyMiddleware, scope: Scope, receive: Receive) -> None:
        self._rules = rules
        self._scope = scope
        self._receive = receive
        self._finished = False
        self._deadline = 0.0
        self._received = 0

    async def receive_message(self) -> Message:
        """Returns the next piece. Raises PayloadTooLarge, RequestTimeout, and InvalidRequest if the client is gone."""
        if self._finished:
            return await self._receive()
        if RECEIVED in self._scope.get("state", ()) and not self._deadline:
            self._most = self._rules.get_limit(self._scope)
            return self._measure_message(await self._receive())
        if not self._deadline:
            self._begin()
        try:
            async with asyncio.timeout_at(self._deadline + self._received / BYTES_PER_SECOND):
                message = await self._receive()
        except TimeoutError as error:
            raise RequestTimeout("请求内容没有在规定时间内发完。") from error
        return self._measure_message(message)

    def _measure_message(self, message: Message) -> Message:
        if message["type"] != "http.request":
            self._finished = True
            raise InvalidRequest("请求没有发完，连接就断开了。")
        self._received += len(message.get("body", b""))
        if self._received > self._most:
            raise _build_too_large(self._most)
        self._finished = not message.get("more_body", False)
        return message

    def _begin(self) -> None:
        self._deadline = asyncio.get_running_loop().time() + self._rules.seconds
        self._most = self._rules.get_limit(self._scope)
        declared = next((value for name, value in self._scope["headers"] if name == b"content-length"), b"0")
        if declared.isdigit() and int(declared) > self._most:
            raise _build_too_large(self._most)


def _build_too_large(most: int) -> PayloadTooLarge:
    shown = f"{most / 2**20:.4g} MB" if most >= 2**20 else f"{most / 2**10:.4g} KB"
    return PayloadTooLarge(f"请求内容不能超过 {shown}", max_bytes=most)
