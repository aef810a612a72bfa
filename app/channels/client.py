"""HTTP with a platform: sends JSON, reads JSON of limited size, and maps errors by whether to try again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.channels.errors import MAX_ERROR_CHARS, PlatformRefused, PlatformUnavailable, TokenExpired, describe_error
from knowledge.lazy import LazyModule

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

# Maximum bytes of a response.
MAX_BYTES = 1024 * 1024


class PlatformClient:
    """Calls platforms. seconds: timeout of a whole call."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        """The HTTP client, created on first use, since reading the certificates takes 30 ms."""
        return httpx.AsyncClient(follow_redirects=False, timeout=self._seconds)

    async def close(self) -> None:
        """Closes the connections."""
        if "_http" in vars(self):
            await self._http.aclose()

    async def request_json(self, method: str, url: str, *, codes: bool = False, **options: Any) -> dict[str, Any]:
        """Sends a request and returns the JSON object of the response.

        Args:
            method: The HTTP method.
            url: The address.
            codes: Whether the caller handles error codes in the body of a refusal itself.
            options: Of `httpx.AsyncClient.stream`.

        Returns:
            The object; empty for a response without a body.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed.
        """
        status, headers, body = await self._send_request(method, url, options)
        _require_available(status, headers)
        try:
            data = json.loads(body) if body.strip() else {}
        except (ValueError, RecursionError) as error:
            raise _build_response_error(status) from error
        if not isinstance(data, dict):
            raise _build_response_error(status)
        if status >= 300 and not (codes and data.get("code")):
            message = str(data.get("message") or data.get("msg") or data.get("errmsg") or "")[:MAX_ERROR_CHARS]
            raise PlatformRefused(f"HTTP {status} {data.get('code', '')} {message}".strip())
        return data

    async def download_file(self, url: str, most: int, **options: Any) -> tuple[bytes, str]:
        """Downloads a file with GET.

        Args:
            url: The address.
            most: Maximum bytes.
            options: Of `httpx.AsyncClient.stream`.

        Returns:
            The bytes and the media type.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: It will never succeed, also because the file is too long.
        """
        status, headers, body = await self._send_request("GET", url, options, most)
        _require_available(status, headers)
        if status >= 300 or not body:
            raise PlatformRefused(f"HTTP {status}")
        return body, headers.get("content-type", "").partition(";")[0].strip().lower()

    async def post_body(self, url: str, body: bytes, headers: dict[str, str]) -> None:
        """Sends a body to a receiver of which only the status of the response counts.

        Args:
            url: The address.
            body: The body.
            headers: The headers.

        Raises:
            PlatformUnavailable: It may succeed later.
            PlatformRefused: The receiver wants no more requests (410).
        """
        status, received, _ = await self._send_request("POST", url, {"content": body, "headers": headers})
        # A receiver may correct whatever else it refuses; only 410 says that nobody will ever want the request.
        if status == httpx.codes.GONE:
            raise PlatformRefused(f"HTTP {status}")
        if not 200 <= status < 300:
            raise PlatformUnavailable(f"HTTP {status}", _parse_retry_after(received.get("retry-after", "")))

    async def _send_request(
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


@dataclass(frozen=True, slots=True)
class ErrorCodes:
    """How a platform reports errors in responses whose HTTP status is a success.

    expired: the codes of an access token that is not accepted any more; busy: those of too many requests; code,
    message: the names of the fields; pause: seconds to wait after a busy code, None if nothing is known about it.
    """

    expired: frozenset[int]
    busy: frozenset[int]
    code: str = "errcode"
    message: str = "errmsg"
    pause: float | None = None

    def check_response(self, data: dict[str, Any]) -> dict[str, Any]:
        """Returns a successful response. Raises PlatformUnavailable, PlatformRefused, TokenExpired."""
        code = data.get(self.code, 0)
        if code == 0:
            return data
        message = f"{code} {str(data.get(self.message, ''))[:150]}"
        if code in self.expired:
            raise TokenExpired(message)
        if code in self.busy:
            raise PlatformUnavailable(message, self.pause)
        raise PlatformRefused(message)


def require_text(data: Mapping[str, Any], name: str) -> str:
    """Returns a field of a platform's response. Raises PlatformUnavailable if it is missing or no text."""
    text = data.get(name)
    if not isinstance(text, str) or not text:
        raise PlatformUnavailable(f"the response has no {name}")
    return text


def _require_available(status: int, headers: httpx.Headers) -> None:
    """Raises PlatformUnavailable for a status after which the same request may succeed later."""
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= 500:
        raise PlatformUnavailable(f"HTTP {status}", _parse_retry_after(headers.get("retry-after", "")))


def _build_response_error(status: int) -> PlatformRefused | PlatformUnavailable:
    if status < 300:
        return PlatformUnavailable("the response is no JSON object")
    return PlatformRefused(f"HTTP {status}")


def _parse_retry_after(header: str) -> float | None:
    return float(header) if header.isascii() and header.isdigit() and len(header) < 6 else None
