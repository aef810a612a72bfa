"""What answers again into the cache after a change, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from app.chat.answering import Answering
from app.chat.evidence import Team
from app.chat.guard import Guard
from app.metrics import Metrics
from app.warming.repository import OpeningRepository
from app.warming.service import Warming

if TYPE_CHECKING:
    from app.wiring.container import Container


def cache_warming(parts: Container) -> Warming:
    """parts: all but what begins it."""

    @asynccontextmanager
    async def team(tenant: str) -> AsyncIterator[Team]:
        async with parts.tenants.turn(tenant) as used:
            yield used.team

    guard = Guard(parts.settings.max_message_chars, parts.profiles.get)
    uncounted = Answering(guard, team, Metrics())
    questions, most = OpeningRepository(parts.base.database), parts.settings.hot_cache_warm_questions
    return Warming(questions, parts.hot_cache, uncounted, parts.limits.slots, most)
