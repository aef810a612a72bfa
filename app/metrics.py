"""What this process measured of its turns, per tenant: counts since the start, percentiles of the last minutes."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agents.routing.types import Route
from agents.types import Answer, ModelCall, Outcome, Usage

# In the order of a turn. A stage that a turn had no need of is not counted for it.
STAGES = (
    "guard", "history", "cache", "embed", "screen", "route", "understand", "vector", "bm25", "fuse", "rerank",
    "gate", "generate", "verify", "persist",
)  # fmt: skip
WINDOW_SECONDS = 300.0
# Percentiles are of the last samples, at most so many and so old.
WINDOW_SAMPLES = 2048
# From a cached turn to a model's reply at its deadline.
BUCKETS_MS = (
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0,
    10_000.0, 20_000.0, 60_000.0,
)  # fmt: skip
# Of the router's scores, which are about +1 where an intent holds and -1 where it does not.
BUCKETS_SCORE = (-1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5)
REFUSALS = frozenset({Outcome.NO_EVIDENCE, Outcome.CANNOT_ANSWER, Outcome.OUT_OF_SCOPE, Outcome.IRRELEVANT})


def is_refusal(answer: Answer) -> bool:
    """Whether the customer got nothing to go by; of a high-stakes turn, neither a source nor what to do first."""
    if answer.outcome is Outcome.HIGH_STAKES:
        return not (answer.sources or answer.instructs)
    return answer.outcome in REFUSALS


class Durations:
    """Milliseconds of one thing that happens again and again."""

    __slots__ = ("_clock", "_recent", "buckets", "count", "total_ms")

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._recent: deque[tuple[float, float]] = deque(maxlen=WINDOW_SAMPLES)
        self.count = 0
        self.total_ms = 0.0
        # How many fell into each bucket, the last being what exceeds them all.
        self.buckets = [0] * (len(BUCKETS_MS) + 1)

    def add(self, milliseconds: float) -> None:
        self.count += 1
        self.total_ms += milliseconds
        self.buckets[bisect_left(BUCKETS_MS, milliseconds)] += 1
        self._recent.append((self._clock(), milliseconds))

    def compute_percentiles(self, *shares: float) -> list[float]:
        """Of the window, by nearest rank; 0.0 while it is empty. shares: in (0, 1]."""
        since = self._clock() - WINDOW_SECONDS
        values = sorted(milliseconds for at, milliseconds in self._recent if at >= since)
        if not values:
            return [0.0] * len(shares)
        return [values[math.ceil(share * len(values)) - 1] for share in shares]


@dataclass(slots=True)
class CacheStats:
    """Of one tenant, since the start."""

    hits: int = 0
    # Joined a computation that ran; saved: what hits and joins cost not.
    shared: int = 0
    misses: int = 0
    saved_ms: float = 0.0
    saved_llm: Usage = field(default_factory=Usage)

    @property
    def hit_rate(self) -> float:
        """Share of the questions that cost no computation, 0.0 before the first."""
        total = self.hits + self.shared + self.misses
        return (self.hits + self.shared) / total if total else 0.0

    def save(self, times: int, milliseconds: float, usage: Usage) -> None:
        self.saved_ms += times * milliseconds
        for _ in range(times):
            self.saved_llm += usage


@dataclass(slots=True)
class TenantMetrics:
    """Counts of one tenant."""

    stages: dict[str, Durations]
    # Until the first piece of the reply.
    first_token: Durations
    # The whole turn.
    total: Durations
    in_flight: int = 0
    peak: int = 0
    turns: int = 0
    cached: int = 0
    refused: int = 0
    degraded: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    # Turns by what was out of order in them.
    outages: Counter[str] = field(default_factory=Counter)
    llm: Usage = field(default_factory=Usage)
    # By verdict, tier and band.
    routes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    # By intent: how many scores fell into each bucket of BUCKETS_SCORE, the last being what exceeds them all.
    scores: dict[str, list[int]] = field(default_factory=dict)
    rejections: Counter[str] = field(default_factory=Counter)
    # Requests that a limit turned away, by its kind.
    limited: Counter[str] = field(default_factory=Counter)
    # Files that were taken in or were not, by what became of them.
    ingested: Counter[str] = field(default_factory=Counter)
    # Runs of background jobs that came to their end, by kind and state.
    jobs: Counter[tuple[str, str]] = field(default_factory=Counter)
    # To language models, by model.
    requests: dict[str, Durations] = field(default_factory=dict)
    # By model, in the unit of LLM_PRICES.
    cost: dict[str, float] = field(default_factory=dict)
    # Requests that ended in one, by model and its kind.
    errors: Counter[tuple[str, str]] = field(default_factory=Counter)
    # Of replies that a model wrote; see `ReplyVerdict`.
    verdicts: Counter[str] = field(default_factory=Counter)


class Metrics:
    """clock: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tenants: dict[str, TenantMetrics] = {}
        # Of addresses that failed too often; nobody knows yet for which tenant.
        self.sign_ins_refused = 0

    def sign_in_refused(self) -> None:
        """A wrong key or token of an address that failed too often."""
        self.sign_ins_refused += 1

    def __iter__(self) -> Iterator[tuple[str, TenantMetrics]]:
        return iter(list(self._tenants.items()))

    def get_tenant(self, tenant: str) -> TenantMetrics:
        """A tenant's metrics, all zero before its first turn."""
        if tenant not in self._tenants:
            stages = {stage: Durations(self._clock) for stage in STAGES}
            self._tenants[tenant] = TenantMetrics(stages, Durations(self._clock), Durations(self._clock))
        return self._tenants[tenant]

    def add_stages(self, tenant: str, timings_ms: dict[str, float]) -> None:
        """Adds what was timed; keys that are no stage belong to somebody else."""
        stages = self.get_tenant(tenant).stages
        for stage, milliseconds in timings_ms.items():
            if stage in stages:
                stages[stage].add(milliseconds)

    def add_answer(self, tenant: str, answer: Answer) -> None:
        """An answer was computed, for however many turns."""
        self.add_stages(tenant, answer.timings_ms)
        metrics = self.get_tenant(tenant)
        metrics.llm += answer.usage
        if answer.verified is not None:
            metrics.verdicts[answer.verified.verdict.value] += 1

    def add_model_call(self, tenant: str, call: ModelCall) -> None:
        """A language model was asked."""
        metrics = self.get_tenant(tenant)
        metrics.requests.setdefault(call.model, Durations(self._clock)).add(call.milliseconds)
        metrics.cost[call.model] = metrics.cost.get(call.model, 0.0) + call.cost
        if call.error:
            metrics.errors[call.model, call.error] += 1

    def add_route(self, tenant: str, route: Route) -> None:
        """A message was sent to its agents."""
        metrics, trace = self.get_tenant(tenant), route.trace
        metrics.routes[trace.verdict, trace.tier.value, trace.band.value] += 1
        for intent, score in trace.scores.items():
            buckets = metrics.scores.setdefault(str(intent), [0] * (len(BUCKETS_SCORE) + 1))
            buckets[bisect_left(BUCKETS_SCORE, score)] += 1

    def add_rejection(self, tenant: str, reason: str) -> None:
        """A message was not taken."""
        self.get_tenant(tenant).rejections[reason] += 1

    def add_limited(self, tenant: str, kind: str) -> None:
        """A limit turned something away."""
        self.get_tenant(tenant).limited[kind] += 1

    def add_file(self, tenant: str, outcome: str) -> None:
        """A file came to its end. outcome: a FileOutcome."""
        self.get_tenant(tenant).ingested[outcome] += 1

    def add_job_run(self, tenant: str, kind: str, state: str) -> None:
        """A run of a background job came to its end. state: a RunState."""
        self.get_tenant(tenant).jobs[kind, state] += 1

    def add_turn(self, tenant: str, answer: Answer, *, cached: bool, total_ms: float) -> None:
        """A turn came to its end."""
        metrics = self.get_tenant(tenant)
        metrics.turns += 1
        metrics.cached += cached
        metrics.refused += is_refusal(answer)
        metrics.degraded += bool(answer.degraded)
        metrics.outages.update(answer.degraded)
        metrics.outcomes[answer.outcome.value] += 1
        metrics.total.add(total_ms)

    @contextmanager
    def track_turn(self, tenant: str) -> Iterator[None]:
        """While a turn is answered; an error counts as failed, a customer who leaves does not."""
        metrics = self.get_tenant(tenant)
        metrics.in_flight += 1
        metrics.peak = max(metrics.peak, metrics.in_flight)
        try:
            yield
        except Exception:
            metrics.failed += 1
            raise
        finally:
            metrics.in_flight -= 1
