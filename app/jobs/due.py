"""Makes the runs that are due by schedule, one for each tenant that has a knowledge base."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

from app.db.base import now
from app.jobs.repository import RunRepository
from app.jobs.service import check_parameters
from app.jobs.types import JobKind

Bases = Callable[[], Awaitable[Mapping[str, datetime]]]


class DueRuns:
    """bases: tenants with a knowledge base, and since when; zone: a tenant's time zone; clock: now, aware.

    What was due before a knowledge base was there is not made up for.
    """

    def __init__(
        self,
        kinds: Iterable[JobKind],
        runs: RunRepository,
        bases: Bases,
        zone: Callable[[str], Awaitable[ZoneInfo]],
        wake: Callable[[], None] = lambda: None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._kinds = [(kind, kind.schedule) for kind in kinds if kind.schedule is not None]
        self._runs = runs
        self._bases = bases
        self._zone = zone
        self._wake = wake
        self._clock = clock
        # By tenant and kind, the last that was due and is made: SQL is asked once for each.
        self._made: dict[tuple[str, str], datetime] = {}

    async def begin_due_runs(self) -> None:
        """Queues the runs that are due. Every replica may call it: SQL takes each run once."""
        bases = await self._bases() if self._kinds else {}
        for tenant, since in bases.items():
            zone = await self._zone(tenant)
            for kind, schedule in self._kinds:
                due = schedule.find_last_due(self._clock(), zone)
                if since <= due and self._made.get((tenant, kind.name)) != due:
                    if await self._runs.add_scheduled(tenant, kind.name, check_parameters(kind, {}), due):
                        self._made[tenant, kind.name] = due
                    self._wake()
