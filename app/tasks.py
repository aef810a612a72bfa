"""Ends asyncio tasks that nobody needs any more."""

from __future__ import annotations

import asyncio
from typing import Any


async def stop_tasks(*tasks: asyncio.Future[Any] | None) -> None:
    """Cancels tasks, and returns once they have ended: until then they may use what is closed next. None is no task."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
