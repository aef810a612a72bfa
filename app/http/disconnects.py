"""Work that is worth nothing once its client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive

from app.tasks import stop_tasks

T = TypeVar("T")
# As proxies write it into their logs; nobody reads it.
CLIENT_LEFT = 499


async def run_while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """Returns what the work returns; None if the client went away first: the work is then cancelled and has ended.

    The body must have been read before.
    """
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(wait_until_gone(request.receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        return await working if working.done() else None
    finally:
        await stop_tasks(working, leaving)


async def wait_until_gone(receive: Receive) -> None:
    """Returns once the client left; the body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass
