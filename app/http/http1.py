"""uvicorn's HTTP/1.1 with bounds: on the head of a request, on what follows an early answer, and on slow readers.

uvicorn over httptools takes a head of any length for as long as it lasts, and sets no time for a new request once its
first byte is there. Time and size of a body are the middleware's matter, which can answer in the product's own words.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.errors import AppError, HeadTooLarge, InvalidRequest, Overloaded, RequestTimeout, describe
from app.http.body import RECEIVED
from app.http.connections import CLOSE_SECONDS, SWEEP_SECONDS, ServerConnections
from app.ids import make_random_hex

# Method, address and headers; a question of 2000 Chinese characters in an address takes 18,000.
MAX_HEAD_BYTES = 32 * 1024
MAX_HEADERS = 100
# How much of a body that nobody wants is read after the answer: a client that still sends would lose the answer.
LINGER_BYTES, LINGER_SECONDS = 1 << 20, 2.0
# A client that takes nothing of an answer for so long is cut.
STALL_SECONDS = 30.0


class BoundedHttp(HttpToolsProtocol):
    """One connection. `idle`: see Connection."""

    def __init__(self, door: ServerConnections, **options: Any) -> None:
        super().__init__(**options)
        self.idle = False
        self.address = ""
        self._door = door
        # How often it was looked at since it rests, closes or waits for its client to read.
        self._looks = 0
        # Bytes since the head, the body or the connection last got further.
        self._unproductive = 0
        self._lingering = False
        self._closing = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._door.add_connection(self, self.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._door.resting.pop(self, None)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unproductive += len(data)
        super().data_received(data)
        if self._unproductive > MAX_HEAD_BYTES:
            self._handle_overrun()
        if self.idle and self in self._door.resting:  # the first bytes of a head that is not complete
            self.idle = False
            self._looks = 0

    def on_headers_complete(self) -> None:
        if len(self.headers) > MAX_HEADERS or (
            self._unproductive > MAX_HEAD_BYTES and self._measure_head() > MAX_HEAD_BYTES
        ):
            raise ValueError("the head is too large")  # httptools gives up, and uvicorn answers 400
        self._unproductive = 0
        self._door.resting.pop(self, None)
        self.idle = False
        if self._door.full:
            self.scope["state"]["crowded"] = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        if not self._lingering:
            self._unproductive = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._unproductive = 0
        self.scope["state"][RECEIVED] = True
        if self._lingering:  # all of it came after all: the connection can be used again
            self._lingering = False
            self.idle = True
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing() or not self.cycle.response_complete:
            return
        self._lingering = self.cycle.more_body
        self.idle = not self._lingering
        if self._lingering:
            self._unset_keepalive_if_required()
        self._looks = 0
        self._door.resting[self] = None

    def handle_websocket_upgrade(self) -> None:
        if self._door.full:
            self._refuse(Overloaded("连接太多，请稍后再试。"))
        else:
            super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        self._refuse(InvalidRequest("不是合法的 HTTP 请求。"))

    def pause_writing(self) -> None:
        self._looks = 0
        super().pause_writing()

    def check_timeouts(self) -> None:
        """See Connection."""
        self._looks += 1
        waited = self._looks * SWEEP_SECONDS
        if self.transport.is_closing():  # what is left to send may never be taken
            if not self._closing:
                self._closing, self._looks = True, 0
            elif waited > CLOSE_SECONDS:
                self.transport.abort()
        elif self.flow.write_paused:
            if waited > STALL_SECONDS:
                self.transport.abort()
        elif self in self._door.resting and not self.idle:
            if self._lingering or self.headers is None:  # answered already, or nothing was asked
                if waited > (LINGER_SECONDS if self._lingering else self._door.head_seconds):
                    self.transport.close()
            elif waited > self._door.head_seconds:
                self._refuse(RequestTimeout("请求头没有在规定时间内发完。"))

    def _handle_overrun(self) -> None:
        if not self._lingering:
            self._refuse(HeadTooLarge("请求头过大。"))
        elif self._unproductive > LINGER_BYTES:
            self.transport.close()

    def _refuse(self, error: AppError) -> None:
        """Closes, with an answer where none is under way."""
        self._door.resting.pop(self, None)
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_build_answer(error))
        self.transport.close()

    def _measure_head(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)


def _build_answer(error: AppError) -> bytes:
    description = describe(error)
    request_id = make_random_hex(16)
    body = json.dumps(description.build_body(request_id), ensure_ascii=False).encode()
    lines = [
        f"HTTP/1.1 {description.status} {HTTPStatus(description.status).phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
        f"x-request-id: {request_id}",
    ]
    if description.status == HTTPStatus.SERVICE_UNAVAILABLE:
        lines.append("retry-after: 1")
    return "\r\n".join([*lines, "", ""]).encode() + body
