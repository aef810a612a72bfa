"""Work that waits for somebody else's server gives up its place here meanwhile: it needs no processor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Protocol


class WorkPlace(Protocol):
    """What a piece of work occupies while it computes."""

    def release(self) -> None:
        """Others may have it."""

    async def acquire(self) -> None:
        """Returns once it is there again."""

    def give_up(self) -> None:
        """A part of the work ended while it waited, and wants it back no more."""


PLACE: ContextVar[WorkPlace | None] = ContextVar("place", default=None)
"""Of the work that runs; set by whoever gives places out. Tasks that the work starts have it too."""


@asynccontextmanager
async def release_place() -> AsyncIterator[None]:
    """While a model, a database or an embedder elsewhere is waited for."""
    place = PLACE.get()
    if place is None:
        yield
        return
    place.release()
    try:
        yield
    except Exception:
        await place.acquire()
        raise
    except BaseException:  # work that is cancelled needs no place any more
        place.give_up()
        raise
    else:
        await place.acquire()
