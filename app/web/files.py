"""The static files of the pages, and what browsers are told about them."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HERE = Path(__file__).parent
# Each is served below /web; nothing in them is secret.
FOLDERS = "vendor", "shared", "core", "widget", "chat", "desk", "admin"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# Any site may load the widget's files; what they may ask the server for is decided by key and origin.
FILE_HEADERS = PAGE_HEADERS | {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


class _WithHeaders:
    """Adds FILE_HEADERS to every response; browsers ask each time whether a file is still the same (ETag)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(FILE_HEADERS)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def build_mounts() -> list[Mount]:
    """Builds one for each folder, compressed."""
    return [
        Mount(f"/web/{folder}", _WithHeaders(GZipMiddleware(StaticFiles(directory=HERE / folder))))
        for folder in FOLDERS
    ]
