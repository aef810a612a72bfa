"""After a change of the knowledge base, answers again what many asked of late, before the next customer does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from loguru import logger

from agents.errors import AgentError
from agents.types import Question
from agents.understanding.reading import read
from app.chat.answering import Answering
from app.chat.flight import Events
from app.chat.hot_cache import HotCache
from app.db.base import now
from app.errors import Conflict, QueueTimeout
from app.jobs.service import JobService
from app.jobs.types import JobContext, JobKind
from app.limits.slots import TurnSlots
from app.privacy import personal_data
from app.warming.repository import OpeningRepository
from knowledge.errors import KnowledgeError

KIND = "cache_warming"
SINCE = timedelta(days=1)
BUSY_SECONDS = 30.0
"""For how long one question waits until nobody computes; then customers warm the cache themselves."""
APART_SECONDS = 300.0
"""Between two runs that changes begin: whoever edits documents for an hour does not have models write for an hour."""
_POLL_SECONDS = 0.1
_SENDER = "warming"


@dataclass(frozen=True, slots=True)
class Warming:
    """answering: counts for nobody. most: questions of a run."""

    questions: OpeningRepository
    cache: HotCache
    answering: Answering
    slots: TurnSlots
    most: int
    busy_seconds: float = BUSY_SECONDS

    async def run(self, context: JobContext) -> dict[str, Any]:
        """The work of a run: each answer goes into this process's cache, as a customer's question would bring it there.
        No turn is kept, so nothing of it is usage or a gap.
        """
        asked = await self.wanted(context.tenant)
        kept = failed = 0
        for number, text in enumerate(asked):
            await context.progress(number, len(asked))
            if not await self._idle():
                return {"questions": len(asked), "kept": kept, "failed": failed, "left": len(asked) - number}
            try:
                kept += await self._warm(context.tenant, text)
            except (AgentError, KnowledgeError, QueueTimeout) as error:
                failed += 1
                logger.bind(tenant=context.tenant).info("a question was not answered ahead: {}", error)
        return {"questions": len(asked), "kept": kept, "failed": failed, "left": 0}

    async def wanted(self, tenant: str) -> list[str]:
        """What is worth answering again: of everybody, and the same for everybody."""
        found = await self.questions.top(tenant, now() - SINCE, self.most) if self.most else []
        return [text for text in found if not personal_data(text) and not read(text).own_tickets]

    async def _warm(self, tenant: str, text: str) -> bool:
        question = Question(text, reading=read(text))
        return await self.cache.warm(tenant, question, lambda: self._computed(tenant, question))

    async def _computed(self, tenant: str, question: Question) -> Events:
        async with self.slots.slot(tenant, _SENDER), aclosing(self.answering.run(tenant, question)) as events:
            async for event in events:
                yield event

    async def _idle(self) -> bool:
        """Waits until no customer's turn is computed."""
        try:
            async with asyncio.timeout(self.busy_seconds):
                while not self.slots.idle:  # noqa: ASYNC110 - places come and go a thousand times a second
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            return False
        return True


class DueWarmings:
    """Begins a run once what answers depend on stands still: an import makes many revisions, and calibration follows.

    version: what a tenant's answers depend on at this moment; clock: monotonic seconds.
    """

    def __init__(
        self,
        warming: Warming,
        jobs: JobService,
        version: Callable[[str], Awaitable[Hashable]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._warming = warming
        self._jobs = jobs
        self._version = version
        self._clock = clock
        self._moved: dict[str, Hashable] = {}
        self._warmed: dict[str, tuple[float, Hashable]] = {}

    def moved(self, tenant: str, revision: int) -> None:
        """Searches see another revision."""
        if self._warming.most:
            self._moved.setdefault(tenant, None)

    async def look(self) -> None:
        """Called every few seconds."""
        for tenant, before in list(self._moved.items()):
            try:
                standing = await self._version(tenant)
            except KnowledgeError as error:  # the index is out of reach: nothing could be answered ahead
                logger.bind(tenant=tenant).info("the cache is not warmed now: {}", error)
                continue
            self._moved[tenant] = standing
            at, warmed = self._warmed.get(tenant, (float("-inf"), None))
            if standing != before or self._clock() - at < APART_SECONDS:
                continue
            del self._moved[tenant]
            if standing != warmed and await self._warming.wanted(tenant):
                self._warmed[tenant] = self._clock(), standing
                try:
                    await self._jobs.trigger(tenant, KIND)
                except Conflict as error:  # too many jobs are open, and this one is the least of them
                    logger.bind(tenant=tenant).info("the cache is not warmed now: {}", error)


def warming_kind(warming: Warming) -> JobKind:
    """The job that warms the cache; a change of the knowledge base begins it."""
    return JobKind(KIND, "预热热点问答缓存", warming.run)
