"""Metrics over time: every process adds what it measured since the last time to counters by minute and hour."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from math import inf

from app.db.base import now
from app.metrics import BUCKETS_MS, Durations, Metrics, TenantMetrics
from app.performance.repository_series import SeriesRepository

KEPT = {"minute": timedelta(days=2), "hour": timedelta(days=400)}
_BOUNDS = (*BUCKETS_MS, inf)


class Interval(StrEnum):
    """How long a point is."""

    MINUTE = "minute"
    HOUR = "hour"

    @property
    def length(self) -> timedelta:
        return timedelta(minutes=1) if self is Interval.MINUTE else timedelta(hours=1)

    def begin(self, moment: datetime) -> datetime:
        """Of the point that holds the moment."""
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
        """Once it is committed it counts as saved; what fails is added the next time."""
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
    """A tenant's counts by name: `turns`, `outcome:answered`; of durations `ms:total:2.5`, how many took up to 2.5 ms
    and more than the bound before, and `us:total`, the microseconds of all.
    """
    counts = Counter(
        {
            "turns": own.turns,
            "cached": own.cached,
            "refused": own.refused,
            "degraded": own.degraded,
            "failed": own.failed,
            "llm:calls": own.llm.calls,
            "llm:prompt_tokens": own.llm.prompt_tokens,
            "llm:completion_tokens": own.llm.completion_tokens,
        }
    )
    for kind in GROUPS:
        counts.update({f"{kind}:{name}"[:64]: value for name, value in getattr(own, GROUPS[kind]).items()})
    durations = {"total": own.total, "first_token": own.first_token} | own.stages
    for name, measured in durations.items():
        counts.update(_list_buckets(name, measured))
    return counts


# Kind of a name -> attribute of `TenantMetrics`.
GROUPS = {"outcome": "outcomes", "outage": "outages", "rejected": "rejections", "limited": "limited"}


def _list_buckets(name: str, measured: Durations) -> dict[str, int]:
    if not measured.count:
        return {}
    buckets = {f"ms:{name}:{bound:g}": count for bound, count in zip(_BOUNDS, measured.buckets, strict=True)}
    return buckets | {f"us:{name}": round(measured.total_ms * 1000)}


@dataclass(slots=True)
class Spread:
    """Durations of one thing in milliseconds, as buckets by their upper bounds."""

    buckets: Counter[float] = field(default_factory=Counter)
    total_us: int = 0

    @property
    def count(self) -> int:
        return self.buckets.total()

    @property
    def mean(self) -> float:
        return self.total_us / 1000 / self.count if self.count else 0.0

    def compute_percentile(self, share: float) -> float:
        """Estimated within its bucket; beyond the last bound that bound. share: in (0, 1]."""
        wanted, passed, lower = share * self.count, 0, 0.0
        for bound in sorted(self.buckets):
            here = self.buckets[bound]
            if passed + here >= wanted and here:
                if bound == inf:
                    return BUCKETS_MS[-1]
                lower = max((known for known in BUCKETS_MS if known < bound), default=0.0)
                return lower + (bound - lower) * (wanted - passed) / here
            passed += here
        return 0.0


@dataclass(frozen=True, slots=True)
class Point:
    """What happened in one minute or hour: counts by name, by kind and name, and durations."""

    counts: Counter[str]
    groups: Mapping[str, Counter[str]]
    durations: Mapping[str, Spread]

    @classmethod
    def from_counts(cls, named: Mapping[str, int]) -> Point:
        """named: as `list_counts` names them."""
        counts: Counter[str] = Counter()
        groups: dict[str, Counter[str]] = defaultdict(Counter)
        durations: dict[str, Spread] = defaultdict(Spread)
        for name, value in named.items():
            kind, _, rest = name.partition(":")
            if kind == "us":
                durations[rest].total_us += value
            elif kind == "ms":
                of, _, bound = rest.rpartition(":")
                durations[of].buckets[float(bound)] += value
            elif rest:
                groups[kind][rest] += value
            else:
                counts[name] += value
        return cls(counts, groups, durations)
