"""Background jobs: their kinds, when they are due, and their runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from pydantic import BaseModel


class Cancelled(Exception):
    """The run was cancelled, or another process has it by now: what follows would be in vain."""


class RunState(StrEnum):
    """Where a run stands; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN = (RunState.QUEUED, RunState.RUNNING)
# As often a process may end while it has a run; then the run is what ends it.
MAX_INTERRUPTIONS = 3
INTERRUPTED = {"code": "job_interrupted", "message": f"任务连续 {MAX_INTERRUPTIONS} 次因进程退出而中断，不再重试。"}


class Schedule(Protocol):
    """When runs of a kind are due. What fell due while no server ran is made up for by one run."""

    def find_last_due(self, moment: datetime, zone: ZoneInfo) -> datetime:
        """Returns the latest time, at or before `moment`, at which a run was due, in UTC."""


@dataclass(frozen=True, slots=True)
class Every:
    """Regularly, counted from midnight UTC of 1970-01-01, so that all replicas mean the same times."""

    period: timedelta

    def find_last_due(self, moment: datetime, zone: ZoneInfo) -> datetime:
        seconds = self.period.total_seconds()
        return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, UTC)


@dataclass(frozen=True, slots=True)
class Daily:
    """Once a day at an hour, 0 to 23, of the tenant's own day."""

    hour: int

    def find_last_due(self, moment: datetime, zone: ZoneInfo) -> datetime:
        local = moment.astimezone(zone)
        due = local.replace(hour=self.hour, minute=0, second=0, microsecond=0, fold=0)
        if due > local:
            due = (local - timedelta(days=1)).replace(hour=self.hour, minute=0, second=0, microsecond=0, fold=0)
        return due.astimezone(UTC)


class JobContext(Protocol):
    """What a run knows of itself."""

    @property
    def tenant(self) -> str: ...

    @property
    def run_id(self) -> str: ...

    @property
    def parameters(self) -> dict[str, Any]:
        """As they were checked when the run was triggered; {} where the kind has none."""

    async def report_progress(self, done: int, total: int) -> None:
        """Says how far the run is, kept in SQL at most twice a second. Raises Cancelled: let it pass."""


Work = Callable[[JobContext], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class JobKind:
    """What can be run for a tenant.

    run: returns a summary that is JSON; raises on failure. It may be cut short anywhere and run again from its
    beginning, so it has to be idempotent. A run that is cancelled has 5 s after
    `report_progress` raised, or would have.
    title: Chinese, for people. parameters: of a run, checked when it is triggered; a schedule runs with the defaults.
    schedule: None where runs are triggered alone.
    """

    name: str
    title: str
    run: Work
    schedule: Schedule | None = None
    parameters: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a kind for a tenant. done, total: in whatever the kind counts; total is 0 before it is known.

    error: code and message. duration: seconds that it took, or takes so far; None before it began. scheduled: for when
    it was due, None of one that was triggered.
    """

    id: str
    kind: str
    parameters: dict[str, Any]
    state: RunState
    done: int
    total: int
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    scheduled: datetime | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    def compute_duration(self, moment: datetime) -> float | None:
        """See above; moment: now."""
        if self.started_at is None:
            return None
        return max(0.0, ((self.finished_at or moment) - self.started_at).total_seconds())
