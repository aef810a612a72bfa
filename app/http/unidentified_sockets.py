"""Sockets of whom nobody knows yet who they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

MAX_STRANGERS = 256


class UnidentifiedSockets:
    """At most `most` may be waited for; one more ends the wait for the oldest."""

    def __init__(self, most: int = MAX_STRANGERS) -> None:
        self._most = most
        self._waits: dict[asyncio.Timeout, None] = {}

    @asynccontextmanager
    async def wait_for_one(self, seconds: float) -> AsyncIterator[None]:
        """Waits for one more. Raises TimeoutError once it took `seconds`, or its place is needed."""
        async with asyncio.timeout(seconds) as wait:
            self._waits[wait] = None
            if len(self._waits) > self._most:
                oldest = next(iter(self._waits))
                del self._waits[oldest]
                oldest.reschedule(asyncio.get_running_loop().time())
            try:
                yield
            finally:
                self._waits.pop(wait, None)
