"""Lets pages of other sites call with a key that is for them (CORS). Off, until a key names origins."""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.auth.principal import Principal
from app.ids import make_random_hex

METHODS = "GET, POST, PUT, PATCH, DELETE"
ACCEPTED = "Authorization, Content-Type, Idempotency-Key, X-API-Key, X-Request-ID, X-Session-Token, X-User-Token"
EXPOSED = "Idempotency-Replayed, Retry-After, WWW-Authenticate, X-Request-ID"
MAX_AGE_SECONDS = 600


class CorsMiddleware:
    """Starlette's has one list of origins for everything; here each key has its own.

    A preflight brings no key, so it is answered for the origins of all keys. The response itself is for the page only
    if the key that came is; one without a valid key tells no more than that.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not (asking := _read_origin(scope)):
            await self._app(scope, receive, send)
            return
        if asking not in await scope["app"].state.container.keys.list_origins():
            await self._app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope):
            await _send_preflight(asking, send)
        else:
            await self._app(scope, receive, _wrap_send(asking, scope, send))


def _read_origin(scope: Scope) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), "")


async def _send_preflight(asking: str, send: Send) -> None:
    headers = {
        "access-control-allow-origin": asking,
        "access-control-allow-methods": METHODS,
        "access-control-allow-headers": ACCEPTED,
        "access-control-max-age": str(MAX_AGE_SECONDS),
        "vary": "Origin",
        "x-request-id": make_random_hex(16),
    }
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 204, "headers": raw})
    await send({"type": "http.response.body", "body": b""})


def _wrap_send(asking: str, scope: Scope, send: Send) -> Send:
    async def send_with_origin(message: Message) -> None:
        if message["type"] == "http.response.start":
            principal: Principal | None = scope.get("state", {}).get("principal")
            headers = MutableHeaders(scope=message)
            headers.add_vary_header("Origin")
            if principal is None or asking in principal.origins:
                headers["access-control-allow-origin"] = asking
                headers["access-control-expose-headers"] = EXPOSED
        await send(message)

    return send_with_origin
