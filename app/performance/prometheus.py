"""Metrics in Prometheus' text format, from a registry of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from app.http.statuses import Statuses
from app.metrics import BUCKETS_MS, BUCKETS_SCORE, CacheStats, Metrics, TenantMetrics
from app.performance.repository_backlog import Backlog
from knowledge.stores.base import DenseRecall

if TYPE_CHECKING:
    from app.redis.server import RedisServer


# No tenant is called so: ids begin with a letter or a figure.
OTHERS = "_other"
# Name, help, labels beside the tenant, and what a tenant counted: a number, or numbers by their labels.
_COUNTERS: Sequence[tuple[str, str, Sequence[str], Callable[[TenantMetrics], Any]]] = (
    ("yingda_turns", "Finished turns", ["outcome"], lambda own: own.outcomes),
    ("yingda_routes", "Routed messages", ["intents", "tier", "band"], lambda own: own.routes),
    ("yingda_messages_rejected", "Messages not taken", ["reason"], lambda own: own.rejections),
    ("yingda_requests_limited", "Turned away by a limit", ["kind"], lambda own: own.limited),
    ("yingda_ingested", "Files of jobs by outcome", ["outcome"], lambda own: own.ingested),
    ("yingda_job_runs", "Runs of jobs that ended", ["kind", "state"], lambda own: own.jobs),
    ("yingda_replies_verified", "Checked replies", ["verdict"], lambda own: own.verdicts),
    ("yingda_llm_cost", "In the unit of LLM_PRICES", ["model"], lambda own: own.cost),
    ("yingda_llm_errors", "Requests that failed", ["model", "error"], lambda own: own.errors),
    ("yingda_turns_degraded", "Turns answered while something was down", [], lambda own: own.degraded),
    ("yingda_turns_failed", "Turns that ended in an error", [], lambda own: own.failed),
    ("yingda_llm_calls", "Requests to language models", [], lambda own: own.llm.calls),
    ("yingda_llm_prompt_tokens", "Tokens sent", [], lambda own: own.llm.prompt_tokens),
    ("yingda_llm_completion_tokens", "Tokens received", [], lambda own: own.llm.completion_tokens),
)
# The same of durations.
_DURATIONS: Sequence[tuple[str, str, Sequence[str], Callable[[TenantMetrics], Any]]] = (
    ("yingda_turn_seconds", "Whole turns", [], lambda own: own.total),
    ("yingda_first_token_seconds", "Until the first token", [], lambda own: own.first_token),
    ("yingda_stage_seconds", "Stages of a turn", ["stage"], lambda own: own.stages),
    ("yingda_llm_request_seconds", "Whole replies of models", ["model"], lambda own: own.requests),
)
Tenants = Sequence[tuple[str, TenantMetrics]]


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
    """Writes all metrics. only: those of one tenant; None for those of every tenant and of the process."""
    metrics = measured.metrics
    registry = CollectorRegistry(auto_describe=False)
    tenants = [(name, own) for name, own in metrics if only in (None, name)]
    named = frozenset(name for name, _ in tenants[: measured.named])
    recalls = {tenant: own for tenant, own in measured.recalls.items() if only in (None, tenant)}
    families = [*_list_tenants(tenants, measured.cache), *_list_backlog(measured.backlog), _count_recalls(recalls)]
    registry.register(_Families(_fold_tenants(families, named) if len(tenants) > len(named) else families))
    if only is None:
        ProcessCollector(registry=registry)
        registry.register(_Families(_list_process(measured)))
    return generate_latest(registry)


class _Families(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _fold_tenants(families: Iterable[Metric], named: frozenset[str]) -> Iterator[Metric]:
    """Folds the metrics of tenants beyond a number into one series.

    The tenants that came first have series of their own and keep them, so that what counts up never counts down.
    """
    for metric in families:
        sums: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        for sample in metric.samples:
            labels = {**sample.labels}
            if "tenant" in labels and labels["tenant"] not in named:
                labels["tenant"] = OTHERS
            key = sample.name, tuple(labels.items())
            sums[key] = sums.get(key, 0.0) + sample.value
        metric.samples = [Sample(name, dict(labels), value) for (name, labels), value in sums.items()]
        yield metric


def _list_tenants(tenants: Tenants, cache: Callable[[str], CacheStats]) -> Iterator[Metric]:
    for name, text, labels, read in _COUNTERS:
        yield _build_family(CounterMetricFamily, name, text, ["tenant", *labels], _read_all(tenants, read))
    for name, text, labels, read in _DURATIONS:
        family = HistogramMetricFamily(name, text, labels=["tenant", *labels])
        for names, measured in _read_all(tenants, read):
            seconds = [milliseconds / 1000 for milliseconds in BUCKETS_MS]
            family.add_metric(names, _compute_cumulative(seconds, measured.buckets), measured.total_ms / 1000)
        yield family
    scores = HistogramMetricFamily("yingda_route_score", "Scores of the router", labels=["tenant", "intent"])
    for names, buckets in _read_all(tenants, lambda own: own.scores):
        scores.add_metric(names, _compute_cumulative(BUCKETS_SCORE, buckets), None)
    yield scores
    stats = [((tenant,), cache(tenant)) for tenant, _ in tenants]
    saved = [(names, one.hits + one.shared) for names, one in stats]
    yield _build_family(CounterMetricFamily, "yingda_cache_hits", "Kept or shared answers", ["tenant"], saved)
    yield _build_family(
        CounterMetricFamily,
        "yingda_cache_misses",
        "Answers computed",
        ["tenant"],
        [(names, one.misses) for names, one in stats],
    )
    in_flight = [((tenant,), own.in_flight) for tenant, own in tenants]
    yield _build_family(GaugeMetricFamily, "yingda_turns_in_flight", "Turns being answered", ["tenant"], in_flight)


def _list_process(measured: MeasuredState) -> Iterator[Metric]:
    """Yields the metrics that belong to no tenant."""
    counts = measured.statuses.counts.items()
    answered = sorted(((method, route, str(status)), count) for (method, route, status), count in counts)
    labels = ["method", "route", "status"]
    yield _build_family(CounterMetricFamily, "yingda_http_requests", "Answered requests", labels, answered)
    text, refused = "Wrong keys and tokens beyond the limit", measured.metrics.sign_ins_refused
    yield CounterMetricFamily("yingda_sign_ins_refused", text, refused)
    text, prompts = "Files of prompts whose edit is not in force", measured.refused_prompts
    yield GaugeMetricFamily("yingda_prompts_refused", text, prompts)
    if (redis := measured.redis) is not None:
        yield GaugeMetricFamily("yingda_redis_up", "Whether Redis answers", not redis.away)
        yield CounterMetricFamily("yingda_redis_outages", "How often Redis went away", redis.outages)


def _list_backlog(told: Backlog) -> Iterator[Metric]:
    """Yields the metrics of the database, which are the same whichever process reports them."""
    for name, text, label, counts in (
        ("yingda_desk_sessions", "Sessions that wait for a person or have one", "state", told.desk),
        ("yingda_outbox_events", "Work that follows from commits and waits", "kind", told.outbox),
        ("yingda_webhook_deliveries", "Deliveries that did not arrive", "state", told.deliveries),
        ("yingda_ingestion_files", "Files of ingestion jobs that are kept", "state", told.files),
    ):
        yield _build_family(GaugeMetricFamily, name, text, ["tenant", label], sorted(counts.items()))


def _count_recalls(recalls: Mapping[str, Mapping[DenseRecall, int]]) -> Metric:
    counts = [((tenant, recall.value), own.get(recall, 0)) for tenant, own in recalls.items() for recall in DenseRecall]
    return _build_family(
        CounterMetricFamily, "yingda_dense_recalls", "Who answered dense recalls", ["tenant", "recall"], counts
    )


def _read_all(tenants: Tenants, read: Callable[[TenantMetrics], Any]) -> Iterator[tuple[Sequence[str], Any]]:
    """Yields the labels and what was counted under them, of all tenants; some of it goes by names of its own."""
    for tenant, own in tenants:
        found = read(own)
        if not isinstance(found, Mapping):
            yield (tenant,), found
            continue
        for name, value in found.items():
            yield (tenant, *([name] if isinstance(name, str) else name)), value


def _build_family(
    kind: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    text: str,
    labels: Sequence[str],
    counts: Iterable[tuple[Sequence[str], float]],
) -> Metric:
    family = kind(name, text, labels=labels)
    for names, count in counts:
        family.add_metric(names, count)
    return family


def _compute_cumulative(bounds: Iterable[float], counts: Iterable[int]) -> list[tuple[str, float]]:
    """Returns upper bound -> how many are not above it, as Prometheus wants them; the last count exceeds
    every bound.
    """
    totals = [float(total) for total in accumulate(counts)]
    return list(zip([*map(str, bounds), "+Inf"], totals, strict=True))
