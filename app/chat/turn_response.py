"""The one way of a running turn to a client of HTTP, whatever the format."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from app.chat.types import ChatEvent, ClientGone, RunTurn, TurnDone
from app.errors import ShuttingDown, describe
from app.http.disconnects import CLIENT_LEFT, wait_until_gone
from app.http.error_handlers import log_error
from app.limits.leases import Lease
from app.tasks import stop_tasks

# Proxies close a connection that is silent for 30 to 60 s.
PING_SECONDS = 15.0
# How long a running stream may go on once the server stops.
DRAIN_SECONDS = 5.0
RESTARTING = "服务正在重启，请稍后重新发送。"
MEDIA_TYPE = "text/event-stream"
# Against proxies that collect a response before they pass it on.
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

# The text of an event, of the error that ends the stream, or of a ping, which is None; often empty.
Encode = Callable[[ChatEvent | Exception | None], str]


class TurnResponse(Response):
    """Runs a turn and sends its events as they come. A client that leaves cancels the turn.

    The turn runs in one task of its own: libraries below may not like to be resumed in another.
    """

    def __init__(
        self,
        run: RunTurn,
        encode: Encode,
        request: Request,
        lease: Lease,
        draining: asyncio.Event,
        refusals: tuple[type[Exception], ...] = (Exception,),
        ping_seconds: float = PING_SECONDS,
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        """Args:
        run: runs the turn.
        encode: the format.
        request: gets the outcome, for the log.
        lease: of the stream, which is open until the last of it is sent or the client has left.
        draining: set once the server stops.
        refusals: errors that are raised where they come before the first event, so that the status can tell; every
            other error is the last that is sent.
        ping_seconds: of silence until a ping.
        drain_seconds: that are left to the stream then.
        """
        self.status_code, self.media_type, self.background = 200, MEDIA_TYPE, None
        self.init_headers(HEADERS)
        self._run, self._encode, self._request, self._lease, self._refusals = run, encode, request, lease, refusals
        self._draining, self._ping_seconds, self._drain_seconds = draining, ping_seconds, drain_seconds
        self._sending = asyncio.Lock()
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See Response. Raises what is refused."""
        self._send, self._sent_at = send, time.monotonic()
        turn = asyncio.ensure_future(self._run(self.send_item))
        gone, drained = asyncio.create_task(wait_until_gone(receive)), asyncio.create_task(self._wait_for_drain())
        tasks = turn, gone, drained
        with self._lease:
            try:
                await self._ping_until_any(tasks)
                error = self._find_error(turn, gone)
            finally:
                await stop_tasks(*tasks)
            if isinstance(error, ClientGone):
                if not self._started:
                    await Response(status_code=CLIENT_LEFT)(scope, receive, send)
                return
            if error is not None:
                if not self._started and isinstance(error, self._refusals):
                    raise error
                log_error(error, describe(error))
                await self.send_item(error)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def send_item(self, item: ChatEvent | Exception | None) -> None:
        """Sends an event, the error that ends the stream, or a ping."""
        if isinstance(item, TurnDone):
            self._request.state.outcome = item.answer.outcome.value
        text = self._encode(item)
        async with self._sending:
            self._sent_at = time.monotonic()
            if not self._started:
                self._started = True
                await self._send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if text:
                await self._send({"type": "http.response.body", "body": text.encode(), "more_body": True})

    async def _ping_until_any(self, tasks: tuple[asyncio.Future[None], ...]) -> None:
        """Returns when one of the tasks has ended."""
        while True:
            left = self._sent_at + self._ping_seconds - time.monotonic()
            done, _ = await asyncio.wait(tasks, timeout=max(left, 0.0), return_when=asyncio.FIRST_COMPLETED)
            if done:
                return
            if self._sending.locked():  # the client does not read
                self._sent_at = time.monotonic()
            elif time.monotonic() - self._sent_at >= self._ping_seconds:
                await self.send_item(None)

    def _find_error(self, turn: asyncio.Future[None], gone: asyncio.Future[None]) -> Exception | ClientGone | None:
        """Finds out why the turn ended or is to end; None where it ended well."""
        if turn.done():
            error = None if turn.cancelled() else turn.exception()
            if error is None or isinstance(error, Exception | ClientGone):
                return error
            raise error
        return ClientGone() if gone.done() else ShuttingDown(RESTARTING)

    async def _wait_for_drain(self) -> None:
        await self._draining.wait()
        await asyncio.sleep(self._drain_seconds)
