"""The id of the request that is being worked on, for what follows from it far below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Not an argument: a webhook event names it, and events are written deep inside the transactions of every feature.
_CURRENT: ContextVar[str] = ContextVar("request_id", default="")


def get_request_id() -> str:
    """As X-Request-ID tells it; empty for what no request caused."""
    return _CURRENT.get()


@contextmanager
def set_request_id(request_id: str) -> Iterator[None]:
    """What is done meanwhile follows from this request; empty for none."""
    token = _CURRENT.set(request_id)
    try:
        yield
    finally:
        _CURRENT.reset(token)
