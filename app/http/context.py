"""Pure ASGI middleware: request id, access log and the last resort for errors.

BaseHTTPMiddleware would more than halve the throughput.
"""

from __future__ import annotations

import re
import time

from loguru import logger
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import InvalidRequest, NotFound, describe
from app.http.statuses import UNMATCHED, Statuses
from app.ids import make_random_hex
from app.request_ids import set_request_id

# Those of version 00 have 55.
_TRACEPARENT_CHARS = 64
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestContextMiddleware:
    """Gives every request an id, returns it as X-Request-ID and writes one log line when it is done.

    An error that no handler knew is logged and answered here, so that its response has the id too.

    An id that the client sends is kept when it looks like one. The log line names the route, not the address asked for:
    that may hold what people typed.
    """

    def __init__(self, app: ASGIApp, statuses: Statuses) -> None:
        self._app = app
        self._statuses = statuses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request_id = _read_given_id(scope) or make_random_hex(16)
        if scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send, request_id)
            return
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        status = 500
        started_response = False
        started = time.perf_counter()

        async def send_with_id(message: Message) -> None:
            nonlocal status, started_response
            if message["type"] == "http.response.start":
                started_response = True
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with logger.contextualize(request_id=request_id), set_request_id(request_id):
            try:
                if "\0" in scope["path"]:  # SQL takes none, in whatever field it is
                    raise NotFound("没有这个地址，请检查路径。")
                if b"%00" in scope["query_string"]:
                    raise InvalidRequest("网址里不能有空字符。")
                await self._app(scope, receive, send_with_id)
            except Exception as error:  # the outermost layer: whatever it is, the client gets the error body
                description = describe(error)
                if description.status >= 500:
                    state["reason"] = description.code
                    logger.opt(exception=error).error("request failed")
                if started_response:
                    raise
                told = description.build_body_for(scope["path"], request_id)
                body = JSONResponse(told, status_code=description.status, headers=description.headers)
                await body(scope, receive, send_with_id)
            finally:
                path = getattr(scope.get("route"), "path", UNMATCHED)
                self._statuses.add(scope["method"], path, status)
                logger.bind(
                    tenant=state.get("tenant"),
                    method=scope["method"],
                    path=path,
                    status=status,
                    ms=round((time.perf_counter() - started) * 1000, 1),
                    outcome=state.get("outcome"),
                    reason=state.get("reason"),
                ).info("request")

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        """Serves a socket, which has one id for as long as it is open."""
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] in ("websocket.accept", "websocket.http.response.start"):
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        with logger.contextualize(request_id=request_id), set_request_id(request_id):
            await self._app(scope, receive, send_with_id)


def _read_given_id(scope: Scope) -> str | None:
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    return given.decode() if _REQUEST_ID.fullmatch(given) else None


def read_traceparent(connection: HTTPConnection) -> str:
    """Reads the trace of the caller (W3C Trace Context) as it was sent, cut; empty for none."""
    return connection.headers.get("traceparent", "")[:_TRACEPARENT_CHARS]
