"""uvicorn's WebSockets with bounds on what a client may make the server keep without ever reading an answer."""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from app.http.connections import CLOSE_SECONDS, SWEEP_SECONDS

MIN_FRAME_BYTES = 64 * 1024
# Continuation frames of one message: empty ones count nothing towards its size.
MAX_PIECES = 256
# Messages of one read that wait; after each read the connection is not read until all of them were taken.
MAX_QUEUED = 256

# How long the other side has to answer a close.
ANSWER_SECONDS = 3.0

_INVALID_DATA, _POLICY_VIOLATION, _MESSAGE_TOO_BIG = 1007, 1008, 1009


class BoundedSockets(WebSocketsSansIOProtocol):
    """One connection after its handshake. Bytes of a message are bounded by `ws_max_size`."""

    idle = False
    address = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.close_timeout = ANSWER_SECONDS
        self._looks = 0
        self._failed = False

    async def send(self, message: Any) -> None:
        """Raises ClientDisconnected for a connection that was ended here; uvicorn calls that the feature's mistake."""
        if self._failed:
            raise ClientDisconnected
        await super().send(message)

    def handle_cont(self, event: Any) -> None:
        """See WebSocketsSansIOProtocol."""
        if len(self.frames) >= MAX_PIECES:
            self._fail_connection(_MESSAGE_TOO_BIG)
        else:
            super().handle_cont(event)

    def handle_ping(self) -> None:
        """Pongs that nobody reads would pile up."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self._fail_connection(_POLICY_VIOLATION)

    def send_receive_event_to_app(self) -> None:
        """See WebSocketsSansIOProtocol."""
        if self.queue.qsize() >= MAX_QUEUED:
            self._fail_connection(_POLICY_VIOLATION)
        elif self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self._fail_connection(_INVALID_DATA)  # uvicorn would log a stack for each, which any stranger may send
        else:
            super().send_receive_event_to_app()

    def check_timeouts(self) -> None:
        """See Connection."""
        if self.transport.is_closing():
            self._looks += 1
            if self._looks * SWEEP_SECONDS > CLOSE_SECONDS:
                self.transport.abort()

    def _fail_connection(self, code: int) -> None:
        self.frames = []
        self._failed = True
        if not self.close_sent:
            self.conn.fail(code)
            self.handle_parser_exception()


def _is_utf8(data: bytes) -> bool:
    """Whether the bytes are a text."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
