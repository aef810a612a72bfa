"""Refusals that take a moment, so that asking again and again costs everybody else nothing."""

from __future__ import annotations

import asyncio

# Where so many wait already, waiting is what costs.
SECONDS, MOST = 0.5, 1000


class Pause:
    """Shared by all who refuse."""

    def __init__(self) -> None:
        self._waiting = 0

    async def __call__(self) -> None:
        """Returns after SECONDS."""
        if self._waiting >= MOST:
            return
        self._waiting += 1
        try:
            await asyncio.sleep(SECONDS)
        finally:
            self._waiting -= 1
