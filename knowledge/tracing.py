"""Spans: stretches of the work on one request, wherever it is done. Where nobody records them they are nothing.

Who records them is the `app`'s business; attributes are figures, kinds and names of ours, never words that
customers or documents brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol

Value = str | int | float | bool


class TracedSpan(Protocol):
    """A span of work. It ends when its `with` block ends, normally or by an error."""

    def __enter__(self) -> TracedSpan:
        """What is begun meanwhile, in this task and in those that it makes, is a part of it."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends it."""

    def start_child(self, name: str, attributes: Mapping[str, Value] | None = None) -> TracedSpan:
        """Starts a span within this one."""

    def enter(self) -> AbstractContextManager[object]:
        """Makes this span the current one for a block, like `__enter__`, but does not end it afterwards."""

    def set_attributes(self, attributes: Mapping[str, Value]) -> None:
        """Adds attributes to the span."""

    def end(self, error: BaseException | None = None) -> None:
        """Ends the span; only the first call counts."""

    def build_headers(self) -> Mapping[str, str]:
        """Returns the headers that carry the span to another service (W3C Trace Context)."""


class _NoSpan:
    """A span that is not recorded."""

    def __enter__(self) -> _NoSpan:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start_child(self, name: str, attributes: Mapping[str, Value] | None = None) -> TracedSpan:
        return self

    def enter(self) -> _NoSpan:
        return self

    def set_attributes(self, attributes: Mapping[str, Value]) -> None:
        pass

    def end(self, error: BaseException | None = None) -> None:
        pass

    def build_headers(self) -> Mapping[str, str]:
        return {}


NOTHING: TracedSpan = _NoSpan()
# Not an argument: every function that begins a span would have to be given its parent, recorded or not.
_CURRENT: ContextVar[TracedSpan] = ContextVar("span", default=NOTHING)


def get_current_span() -> TracedSpan:
    """Returns the innermost span."""
    return _CURRENT.get()


def start_span(name: str, attributes: Mapping[str, Value] | None = None) -> TracedSpan:
    """Starts a span within the current one: `with start_span("fuse"): ...`. Not around a `yield`."""
    return _CURRENT.get().start_child(name, attributes)


@contextmanager
def enter_span(here: TracedSpan) -> Iterator[None]:
    """Makes a span the current one for a block."""
    token = _CURRENT.set(here)
    try:
        yield
    finally:
        _CURRENT.reset(token)
