"""A piece of work that waits for another server gives up its place meanwhile, since it needs no processor."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Protocol


class WorkPlace(Protocol):
    """The place that a piece of work occupies while it computes."""

    def release(self) -> None:
        """Gives the place to others."""

    async def acquire(self) -> None:
        """Waits until the place is there again."""

    def give_up(self) -> None:
        """Gives up a place for good: a part of the work ended while it waited."""


# The place of the work that runs, set where places are given out; tasks that the work starts inherit it. It is not an
# argument, because what waits are clients of models, databases and embedders, which know nothing of turns.
PLACE: ContextVar[WorkPlace | None] = ContextVar("place", default=None)


@asynccontextmanager
async def release_place() -> AsyncIterator[None]:
    """Releases the current place while the block waits for a model, a database or an embedder elsewhere."""
    current = PLACE.get()
    if current is None:
        yield
        return
    current.release()
    try:
        yield
    except Exception:
        await current.acquire()
        raise
    except BaseException:  # work that is cancelled needs no place any more
        current.give_up()
        raise
    else:
        await current.acquire()
