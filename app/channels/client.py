"""HTTP with a platform: JSON out, bounded JSON in, and errors by what to do about them."""

from __future__ import annotations

import asyncio
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.channels.errors import MAX_ERROR_CHARS, PlatformRefused, PlatformUnavailable, describe_error
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

MAX_BYTES = 1024 * 1024
"""Of a response."""


class PlatformClient:
    """seconds: for a whole call."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        """Made when it is first used: reading the certificates takes 30 ms."""
        return httpx.AsyncClient(follow_redirects=False, timeout=self._seconds)

    async def close(self) -> None:
        """Lets the connections go."""
        if "_http" in vars(self):
            await self._http.aclose()

    async def call(self, method: str, url: str, *, codes: bool = False, **options: Any) -> dict[str, Any]:
        """A JSON object; empty for a response without a body. codes: the caller reads what the body of a refusal says.
        options: of `httpx.AsyncClient.stream`. Raises PlatformUnavailable, PlatformRefused.
        """
        status, headers, body = await self._exchange(method, url, options)
        if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
            raise PlatformUnavailable(f"HTTP {status}", _seconds(headers.get("retry-after", "")))
        try:
            told = json.loads(body) if body.strip() else {}
        except (ValueError, RecursionError) as error:
            raise _unexpected(status) from error
        if not isinstance(told, dict):
            raise _unexpected(status)
        if status >= 300 and not (codes and told.get("code")):
            message = str(told.get("message") or told.get("msg") or told.get("errmsg") or "")[:MAX_ERROR_CHARS]
            raise PlatformRefused(f"HTTP {status} {told.get('code', '')} {message}".strip())
        return told

    async def download(self, method: str, url: str, most: int, **options: Any) -> tuple[bytes, str]:
        """Bytes and media type of a file. Raises PlatformUnavailable, PlatformRefused, also for a longer one."""
        status, headers, body = await self._exchange(method, url, options, most)
        if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
            raise PlatformUnavailable(f"HTTP {status}", _seconds(headers.get("retry-after", "")))
        if status >= 300 or not body:
            raise PlatformRefused(f"HTTP {status}")
        return body, headers.get("content-type", "").partition(";")[0].strip().lower()

    async def tell(self, url: str, body: bytes, headers: dict[str, str]) -> None:
        """Sends a body to somebody whose response says nothing but its status. Raises PlatformUnavailable,
        PlatformRefused where the receiver says that it wants nothing more (410).
        """
        status, told, _ = await self._exchange("POST", url, {"content": body, "headers": headers})
        if status == httpx.codes.GONE:
            raise PlatformRefused(f"HTTP {status}")
        if not 200 <= status < 300:
            raise PlatformUnavailable(f"HTTP {status}", _seconds(told.get("retry-after", "")))

    async def _exchange(
        self, method: str, url: str, options: dict[str, Any], most: int | None = None
    ) -> tuple[int, httpx.Headers, bytes]:
        try:
            async with asyncio.timeout(self._seconds), self._http.stream(method, url, **options) as response:
                body = b""
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > (MAX_BYTES if most is None else most):
                        raise PlatformRefused("the response is too long")
                return response.status_code, response.headers, body
        except TimeoutError as error:
            raise PlatformUnavailable("timeout") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            raise PlatformUnavailable(describe_error(error)) from error


def _unexpected(status: int) -> PlatformRefused | PlatformUnavailable:
    if status < 300:
        return PlatformUnavailable("the response is no JSON object")
    return PlatformRefused(f"HTTP {status}")


def _seconds(header: str) -> float | None:
    return float(header) if header.isascii() and header.isdigit() and len(header) < 6 else None
