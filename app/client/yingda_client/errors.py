"""What a call may raise.

YingdaError                 all of them
├── ConnectionFailed        no response: nobody listens, the connection broke, or it took too long
└── ApiError                a response that says no; `status`, `code`, `message`, `details`, `request_id`
    ├── InvalidRequest      400, 409 of an idempotency key with another body, 413, 415, 422
    ├── Unauthorized        401: no key, a wrong one, or a token that does not hold
    ├── Forbidden           403: the key's role or scopes do not cover it
    ├── NotFound            404
    ├── Conflict            409
    ├── RateLimited         429; `retry_after` in seconds
    └── Unavailable         5xx; `retry_after` where the server says so
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class YingdaError(Exception):
    """Base of all errors of this package."""


class ConnectionFailed(YingdaError):
    """There was no response, or only a part of it."""


class ApiError(YingdaError):
    """status: of HTTP, 0 for an error in the middle of a stream; code: stable, for programs; message: for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.request_id = request_id
        self.retry_after = retry_after


class InvalidRequest(ApiError):
    """The server does not take this request, however often it is sent."""


class Unauthorized(ApiError):
    """No key, a wrong one, or a token that does not hold."""


class Forbidden(ApiError):
    """The key may not do this."""


class NotFound(ApiError):
    """It is not there, or not in the tenant of the key."""


class Conflict(ApiError):
    """It is not in a state in which this can be done."""


class RateLimited(ApiError):
    """Too many requests; see `retry_after`."""


class Unavailable(ApiError):
    """The server cannot do it now."""


def find_error_class(status: int) -> type[ApiError]:
    """Returns the class for a status of HTTP."""
    if status >= 500:
        return Unavailable
    known = {401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 429: RateLimited}
    return known.get(status, InvalidRequest)
