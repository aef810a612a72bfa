"""Metrics in Prometheus' text format, from a registry of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from app.http.statuses import Statuses
from app.metrics import BUCKETS_MS, BUCKETS_SCORE, CacheStats, Durations, Metrics, TenantMetrics
from app.performance.repository_backlog import Backlog, Counts
from knowledge.stores.base import DenseRecall

if TYPE_CHECKING:
    from app.redis.server import RedisServer


# No tenant is called so: ids begin with a letter or a figure.
OTHERS = "_other"
Tenants = Iterable[tuple[str, TenantMetrics]]


@dataclass(frozen=True, slots=True)
class MeasuredState:
    """What there is to tell. cache: of a tenant; recalls: by tenant, who answered them; refused_prompts: files whose
    edit is not in force; named: how many tenants have series of their own.
    """

    metrics: Metrics
    cache: Callable[[str], CacheStats]
    backlog: Backlog
    statuses: Statuses
    recalls: Mapping[str, Mapping[DenseRecall, int]] = field(default_factory=dict)
    redis: RedisServer | None = None
    refused_prompts: int = 0
    named: int = 100


def write_exposition(measured: MeasuredState, only: str | None) -> bytes:
    """All metrics; only: of this tenant, None for every tenant's and the process's."""
    metrics = measured.metrics
    registry = CollectorRegistry(auto_describe=False)
    tenants = [(name, own) for name, own in metrics if only in (None, name)]
    named = frozenset(name for name, _ in tenants[: measured.named])
    recalls = {tenant: own for tenant, own in measured.recalls.items() if only in (None, tenant)}
    for collector in (_Families(tenants, measured.cache), _Waiting(measured.backlog), _Recalls(recalls)):
        registry.register(_Folded(collector, named) if len(tenants) > len(named) else collector)
    if only is None:
        ProcessCollector(registry=registry)
        registry.register(_Requests(measured.statuses))
        refused = Counter("yingda_sign_ins_refused", "Wrong keys and tokens beyond the limit", registry=registry)
        refused.inc(metrics.sign_ins_refused)
        prompts = Gauge("yingda_prompts_refused", "Files of prompts whose edit is not in force", registry=registry)
        prompts.set(measured.refused_prompts)
        if measured.redis is not None:
            Gauge("yingda_redis_up", "Whether Redis answers", registry=registry).set(not measured.redis.away)
            outages = Counter("yingda_redis_outages", "How often Redis went away", registry=registry)
            outages.inc(measured.redis.outages)
    return generate_latest(registry)


class _Folded(Collector):
    """The tenants that came first have series of their own, and keep them; all others are one, so that what counts up
    never counts down.
    """

    def __init__(self, collector: Collector, named: frozenset[str]) -> None:
        self._collector, self._named = collector, named

    def collect(self) -> Iterator[Metric]:
        for metric in self._collector.collect():
            sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
            for sample in metric.samples:
                labels = {**sample.labels}
                if "tenant" in labels and labels["tenant"] not in self._named:
                    labels["tenant"] = OTHERS
                key = sample.name, tuple(labels.items())
                sums[key] = sums.get(key, 0.0) + sample.value
            metric.samples = [Sample(name, dict(labels), value) for (name, labels), value in sums.items()]
            yield metric


class _Families(Collector):
    def __init__(self, tenants: Tenants, cache: Callable[[str], CacheStats]) -> None:
        self._tenants = list(tenants)
        self._cache = cache

    def collect(self) -> Iterator[Metric]:
        yield self._build_histogram("yingda_turn_seconds", "Whole turns", lambda own: own.total)
        yield self._build_histogram("yingda_first_token_seconds", "Until the first token", lambda own: own.first_token)
        stages = HistogramMetricFamily("yingda_stage_seconds", "Stages of a turn", labels=["tenant", "stage"])
        turns = CounterMetricFamily("yingda_turns", "Finished turns", labels=["tenant", "outcome"])
        for tenant, own in self._tenants:
            for stage, durations in own.stages.items():
                _add(stages, [tenant, stage], durations)
            for outcome, count in own.outcomes.items():
                turns.add_metric([tenant, outcome], count)
        yield stages
        yield turns
        yield from self._collect_routing()
        yield from self._collect_models()
        yield self._build_counter(
            "yingda_turns_degraded", "Turns answered while something was down", lambda t, m: m.degraded
        )
        yield self._build_counter("yingda_turns_failed", "Turns that ended in an error", lambda t, m: m.failed)
        yield self._build_counter("yingda_cache_hits", "Kept or shared answers", lambda t, m: self._count_saved(t))
        yield self._build_counter("yingda_cache_misses", "Answers computed", lambda t, m: self._cache(t).misses)
        yield self._build_counter("yingda_llm_calls", "Requests to language models", lambda t, m: m.llm.calls)
        yield self._build_counter("yingda_llm_prompt_tokens", "Tokens sent", lambda t, m: m.llm.prompt_tokens)
        yield self._build_counter(
            "yingda_llm_completion_tokens", "Tokens received", lambda t, m: m.llm.completion_tokens
        )
        in_flight = GaugeMetricFamily("yingda_turns_in_flight", "Turns being answered", labels=["tenant"])
        for tenant, own in self._tenants:
            in_flight.add_metric([tenant], own.in_flight)
        yield in_flight

    def _collect_routing(self) -> Iterator[Metric]:
        routes = CounterMetricFamily("yingda_routes", "Routed messages", labels=["tenant", "intents", "tier", "band"])
        scores = HistogramMetricFamily("yingda_route_score", "Scores of the router", labels=["tenant", "intent"])
        rejected = CounterMetricFamily("yingda_messages_rejected", "Messages not taken", labels=["tenant", "reason"])
        limited = CounterMetricFamily("yingda_requests_limited", "Turned away by a limit", labels=["tenant", "kind"])
        ingested = CounterMetricFamily("yingda_ingested", "Files of jobs by outcome", labels=["tenant", "outcome"])
        jobs = CounterMetricFamily("yingda_job_runs", "Runs of jobs that ended", labels=["tenant", "kind", "state"])
        verified = CounterMetricFamily("yingda_replies_verified", "Checked replies", labels=["tenant", "verdict"])
        for tenant, own in self._tenants:
            for labels, count in own.routes.items():
                routes.add_metric([tenant, *labels], count)
            for intent, buckets in own.scores.items():
                scores.add_metric([tenant, intent], _compute_cumulative(BUCKETS_SCORE, buckets), None)
            for reason, count in own.rejections.items():
                rejected.add_metric([tenant, reason], count)
            for kind, count in own.limited.items():
                limited.add_metric([tenant, kind], count)
            for outcome, count in own.ingested.items():
                ingested.add_metric([tenant, outcome], count)
            for ended, count in own.jobs.items():
                jobs.add_metric([tenant, *ended], count)
            for verdict, count in own.verdicts.items():
                verified.add_metric([tenant, verdict], count)
        return iter((routes, scores, rejected, limited, ingested, jobs, verified))

    def _collect_models(self) -> Iterator[Metric]:
        labels = ["tenant", "model"]
        requests = HistogramMetricFamily("yingda_llm_request_seconds", "Whole replies of models", labels=labels)
        cost = CounterMetricFamily("yingda_llm_cost", "In the unit of LLM_PRICES", labels=labels)
        errors = CounterMetricFamily("yingda_llm_errors", "Requests that failed", labels=[*labels, "error"])
        for tenant, own in self._tenants:
            for model, durations in own.requests.items():
                _add(requests, [tenant, model], durations)
                cost.add_metric([tenant, model], own.cost[model])
            for failed, count in own.errors.items():
                errors.add_metric([tenant, *failed], count)
        return iter((requests, cost, errors))

    def _count_saved(self, tenant: str) -> int:
        stats = self._cache(tenant)
        return stats.hits + stats.shared

    def _build_counter(self, name: str, help_text: str, value: Callable[[str, TenantMetrics], int]) -> Metric:
        family = CounterMetricFamily(name, help_text, labels=["tenant"])
        for tenant, own in self._tenants:
            family.add_metric([tenant], value(tenant, own))
        return family

    def _build_histogram(self, name: str, help_text: str, durations: Callable[[TenantMetrics], Durations]) -> Metric:
        family = HistogramMetricFamily(name, help_text, labels=["tenant"])
        for tenant, own in self._tenants:
            _add(family, [tenant], durations(own))
        return family


class _Waiting(Collector):
    """Of the database, so the same whichever process tells it."""

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog

    def collect(self) -> Iterator[Metric]:
        told = self._backlog
        yield _build_gauge("yingda_desk_sessions", "Sessions that wait for a person or have one", "state", told.desk)
        yield _build_gauge("yingda_outbox_events", "Work that follows from commits and waits", "kind", told.outbox)
        yield _build_gauge("yingda_webhook_deliveries", "Deliveries that did not arrive", "state", told.deliveries)
        yield _build_gauge("yingda_ingestion_files", "Files of ingestion jobs that are kept", "state", told.files)


class _Recalls(Collector):
    def __init__(self, recalls: Mapping[str, Mapping[DenseRecall, int]]) -> None:
        self._recalls = recalls

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily("yingda_dense_recalls", "Who answered dense recalls", labels=["tenant", "recall"])
        for tenant, own in self._recalls.items():
            for recall in DenseRecall:
                family.add_metric([tenant, recall.value], own.get(recall, 0))
        yield family


class _Requests(Collector):
    def __init__(self, statuses: Statuses) -> None:
        self._statuses = statuses

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily("yingda_http_requests", "Answered requests", labels=["method", "route", "status"])
        for (method, route, status), count in sorted(self._statuses.counts.items()):
            family.add_metric([method, route, str(status)], count)
        yield family


def _build_gauge(name: str, help_text: str, label: str, counts: Counts) -> Metric:
    family = GaugeMetricFamily(name, help_text, labels=["tenant", label])
    for labels, count in sorted(counts.items()):
        family.add_metric(labels, count)
    return family


def _add(family: HistogramMetricFamily, labels: list[str], durations: Durations) -> None:
    seconds = [milliseconds / 1000 for milliseconds in BUCKETS_MS]
    family.add_metric(labels, _compute_cumulative(seconds, durations.buckets), durations.total_ms / 1000)


def _compute_cumulative(bounds: Iterable[float], counts: Iterable[int]) -> list[tuple[str, float]]:
    """Upper bound -> how many are not above it, as Prometheus wants them; the last count exceeds every bound."""
    totals = [float(total) for total in accumulate(counts)]
    return list(zip([*map(str, bounds), "+Inf"], totals, strict=True))
