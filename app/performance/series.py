"""Metrics over time: every process adds what it measured since the last time to counters by minute and hour."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from math import inf

from app.db.base import now
from app.metrics import BUCKETS_MS, Metrics, TenantMetrics
from app.performance.repository_series import SeriesRepository

KEPT = {"minute": timedelta(days=2), "hour": timedelta(days=400)}
# What is counted of turns, and attributes of `TenantMetrics` that count by name, by the kind that names begin with.
TOTALS = ("turns", "cached", "refused", "degraded", "failed")
GROUPS = {"outcome": "outcomes", "outage": "outages", "rejected": "rejections", "limited": "limited"}
# Upper bound of a bucket, its name, and the bound before.
_BUCKETS = [(bound, f"{bound:g}", lower) for bound, lower in zip((*BUCKETS_MS, inf), (0.0, *BUCKETS_MS), strict=True)]


class Interval(StrEnum):
    """How long a point is."""

    MINUTE = "minute"
    HOUR = "hour"

    @property
    def length(self) -> timedelta:
        return timedelta(minutes=1) if self is Interval.MINUTE else timedelta(hours=1)

    def begin(self, moment: datetime) -> datetime:
        """Returns the beginning of the point that contains the moment."""
        begun = moment.replace(second=0, microsecond=0)
        return begun if self is Interval.MINUTE else begun.replace(minute=0)


class SeriesRecorder:
    """Adds to the database what this process counted. clock: aware, in UTC."""

    def __init__(self, metrics: Metrics, repository: SeriesRepository, clock: Callable[[], datetime] = now) -> None:
        self._metrics = metrics
        self._repository = repository
        self._clock = clock
        self._saved: dict[str, Counter[str]] = {}
        self._pruned: datetime | None = None

    async def save(self) -> None:
        """Saves the counts. They count as saved once it is committed; after a failure they are added the next time."""
        counted = {tenant: list_counts(own) for tenant, own in self._metrics}
        new = {tenant: counts - self._saved.get(tenant, Counter()) for tenant, counts in counted.items()}
        moment = self._clock()
        if any(new.values()):
            await self._repository.add(new, [(step.value, step.begin(moment)) for step in Interval])
            self._saved = counted
        hour = Interval.HOUR.begin(moment)
        if self._pruned != hour:
            await self._repository.prune({step: moment - kept for step, kept in KEPT.items()})
            self._pruned = hour

    async def close(self) -> None:
        """Saves the rest."""
        await self.save()


def list_counts(own: TenantMetrics) -> Counter[str]:
    """Returns a tenant's counts by name: `turns`, `outcome:answered`.

    Of durations there are `ms:total:2.5`, how many took up to 2.5 ms and more than the bound before, and `us:total`,
    the microseconds of all.
    """
    counts = Counter({name: getattr(own, name) for name in TOTALS})
    counts.update({f"llm:{name}": getattr(own.llm, name) for name in ("calls", "prompt_tokens", "completion_tokens")})
    for kind, group in GROUPS.items():
        counts.update({f"{kind}:{name}"[:64]: value for name, value in getattr(own, group).items()})
    for name, measured in ({"total": own.total, "first_token": own.first_token} | own.stages).items():
        if measured.count:
            counts.update({f"ms:{name}:{_BUCKETS[at][1]}": many for at, many in enumerate(measured.buckets)})
            counts[f"us:{name}"] = round(measured.total_ms * 1000)
    return counts


def group_counts(named: Mapping[str, int]) -> Mapping[str, Counter[str]]:
    """Groups the names of `list_counts` by their beginnings, with their ends: `turns` has none, `2.5` is that of
    `ms:total`.
    """
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for name, value in named.items():
        kind, _, end = name.rpartition(":") if name.startswith("ms:") else name.partition(":")
        groups[kind][end] += value
    return groups


def estimate_percentile(buckets: Mapping[str, int], share: float) -> float:
    """Estimates a percentile within its bucket; beyond the last bound it is that bound.

    Args:
        buckets: How many durations are in each, by its upper bound in milliseconds.
        share: In (0, 1].
    """
    wanted = share * sum(buckets.values())
    for bound, name, lower in _BUCKETS:
        here = buckets.get(name, 0)
        if here and wanted <= here:
            return min(lower + (bound - lower) * wanted / here, BUCKETS_MS[-1])
        wanted -= here
    return 0.0
