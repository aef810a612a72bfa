"""The id of the request that is being worked on, for what follows from it far below."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """As X-Request-ID tells it; empty for what no request caused."""
    return _CURRENT.get()


@contextmanager
def caused_by(request_id: str) -> Iterator[None]:
    """What is done meanwhile follows from this request; empty for none."""
    token = _CURRENT.set(request_id)
    try:
        yield
    finally:
        _CURRENT.reset(token)
