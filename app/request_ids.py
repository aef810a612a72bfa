"""The id of the request that is being worked on, and what its caller's trace is, for what follows from it far below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT: ContextVar[str] = ContextVar("request_id", default="")
_TRACEPARENT: ContextVar[str] = ContextVar("traceparent", default="")


def get_request_id() -> str:
    """As X-Request-ID tells it; empty for what no request caused."""
    return _CURRENT.get()


def get_traceparent() -> str:
    """As the caller sent it (W3C Trace Context), whatever that is; empty for none."""
    return _TRACEPARENT.get()


@contextmanager
def set_traceparent(header: str) -> Iterator[None]:
    """What is done meanwhile belongs to a trace of the caller's; empty for none."""
    token = _TRACEPARENT.set(header)
    try:
        yield
    finally:
        _TRACEPARENT.reset(token)


@contextmanager
def set_request_id(request_id: str) -> Iterator[None]:
    """What is done meanwhile follows from this request; empty for none."""
    token = _CURRENT.set(request_id)
    try:
        yield
    finally:
        _CURRENT.reset(token)
