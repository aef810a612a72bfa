"""A call before it is sent, and what its response says: what both clients share, without any input or output."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self
from uuid import uuid4

import httpx

from .errors import ApiError, Unavailable, find_error_class
from .options import Proved
from .version import __version__

# Seconds before the first retry; each later pause is twice as long.
FIRST_DELAY = 0.5
# Seconds; a server that asks for a longer pause is not asked again.
MAX_DELAY = 30.0
# Statuses after which a request that may be repeated is sent again.
REPEATED = frozenset({429, 502, 503, 504})
# Those of a server that did nothing yet, so that any request may be sent again.
REFUSED = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Call:
    """files, form: of a multipart body; repeatable: to be sent twice does no more than once."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    files: list[tuple[str, tuple[str, bytes]]] = field(default_factory=list)
    form: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Whether to be sent twice does no more than once: what only reads, replaces, deletes, or has a key."""
        return self.method in ("GET", "PUT", "DELETE") or "Idempotency-Key" in self.headers

    def once(self, idempotency_key: str) -> Self:
        """Returns the same call under a key, so that repeating it gives the first result; a random one unless told."""
        return replace(self, headers={**self.headers, "Idempotency-Key": idempotency_key or str(uuid4())})

    def add_proof(self, proved: Proved) -> Self:
        """Returns the same call with the tokens that prove a conversation or a member, as far as there are any."""
        tokens = {"X-Session-Token": proved.get("session_token"), "X-User-Token": proved.get("user_token")}
        return replace(self, headers={**self.headers, **{name: value for name, value in tokens.items() if value}})

    def options(self) -> dict[str, Any]:
        """Builds what httpx wants, beside method and path."""
        given: dict[str, Any] = {"headers": dict(self.headers)}
        if self.query:
            given["params"] = {name: value for name, value in self.query.items() if value is not None}
        if self.body is not None:
            given["json"] = self.body
        if self.files:
            given |= {"files": self.files, "data": dict(self.form)}
        return given


def build_headers(key: str, user_token: str) -> dict[str, str]:
    """Builds the headers of all requests of a client."""
    headers = {"User-Agent": f"yingda-client/{__version__}"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if user_token:
        headers["X-User-Token"] = user_token
    return headers


def read_error(response: httpx.Response) -> ApiError:
    """The error of a response whose body was read, of whatever shape it is."""
    try:
        told = response.json()["error"]
        code, message, details = str(told["code"]), str(told["message"]), told.get("details")
    except (ValueError, KeyError, TypeError):  # a proxy answered in the server's place
        code, message, details = "unexpected_response", response.text[:200], None
    return find_error_class(response.status_code)(
        response.status_code,
        code,
        message,
        details=details if isinstance(details, dict) else None,
        request_id=response.headers.get("x-request-id", ""),
        retry_after=_parse_seconds(str(response.headers.get("retry-after", ""))),
    )


def read_event_error(event: Mapping[str, Any]) -> ApiError:
    """The error that a stream ends with."""
    told = event["error"]
    return Unavailable(0, told["code"], told["message"], details=told["details"], request_id=told["request_id"])


def compute_delay(call: Call, attempt: int, error: ApiError | httpx.TransportError) -> float | None:
    """Computes the seconds before the next attempt; None where the call is not to be sent again. attempt: from 0."""
    if isinstance(error, ApiError):
        may = error.status in REFUSED or (error.status in REPEATED and call.repeatable)
        wanted: float | None = error.retry_after
    else:
        # Without a connection the server got nothing, so that any call may be sent again.
        may = call.repeatable or isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        wanted = None
    if not may or (wanted is not None and wanted > MAX_DELAY):
        return None
    backoff = min(FIRST_DELAY * 2.0**attempt, MAX_DELAY)
    # At random, so that clients which failed together do not come back together.
    return max(wanted or 0.0, backoff * random.uniform(0.5, 1.0))


def _parse_seconds(header: str) -> float | None:
    return float(header) if header.isdecimal() else None
