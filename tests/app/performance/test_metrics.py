from __future__ import annotations

import pytest

from agents.types import Answer, ModelCall, Outcome, Source, Usage
from app.http.statuses import Statuses
from app.metrics import WINDOW_SAMPLES, WINDOW_SECONDS, CacheStats, Durations, Metrics
from app.performance.prometheus import MeasuredState, write_exposition
from app.performance.repository_backlog import Backlog
from knowledge.stores.base import DenseRecall


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answer(outcome: Outcome = Outcome.ANSWERED, **fields: object) -> Answer:
    return Answer("", outcome, "knowledge", "knowledge", **fields)  # type: ignore[arg-type]


def test_percentiles_are_by_nearest_rank() -> None:
    durations = Durations(Clock())
    for milliseconds in range(1, 101):
        durations.add(milliseconds)
    assert durations.compute_percentiles(0.5, 0.95, 0.99, 1.0) == [50, 95, 99, 100]
    assert (durations.count, durations.total_ms) == (100, 5050)


def test_a_window_forgets_what_is_old_and_the_count_does_not() -> None:
    clock = Clock()
    durations = Durations(clock)
    durations.add(9.0)
    clock.now = WINDOW_SECONDS + 1
    assert durations.compute_percentiles(0.5) == [0.0]
    durations.add(1.0)
    assert (durations.compute_percentiles(0.5), durations.count) == ([1.0], 2)
    for _ in range(WINDOW_SAMPLES):
        durations.add(2.0)
    assert durations.compute_percentiles(0.01) == [2.0]


def test_tenants_are_counted_apart() -> None:
    metrics = Metrics()
    degraded = answer(
        Outcome.CANNOT_ANSWER, degraded=("llm",), usage=Usage(1, 2, 3), timings_ms={"gate": 1.0, "x": 1.0}
    )
    metrics.add_answer("a", degraded)
    metrics.add_turn("a", degraded, cached=False, total_ms=5.0)
    metrics.add_turn("b", answer(), cached=True, total_ms=1.0)
    a, b = metrics.get_tenant("a"), metrics.get_tenant("b")
    assert (a.turns, a.refused, a.degraded, a.cached, a.llm) == (1, 1, 1, 0, Usage(1, 2, 3))
    assert (b.turns, b.refused, b.degraded, b.cached, b.llm) == (1, 0, 0, 1, Usage())
    assert (a.stages["gate"].count, b.stages["gate"].count) == (1, 0)


SOURCE = Source(1, "d", "退货说明", "", None, "退款 5 天到账。", 0.9)


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (answer(), False),
        (answer(Outcome.NO_EVIDENCE), True),
        (answer(Outcome.OUT_OF_SCOPE), True),
        (answer(Outcome.CLARIFY), False),
        (answer(Outcome.HIGH_STAKES), True),
        (answer(Outcome.HIGH_STAKES, sources=(SOURCE,)), False),
        (answer(Outcome.HIGH_STAKES, instructs=True), False),
    ],
)
def test_what_gives_the_customer_nothing_to_go_by_is_refused(given: Answer, refused: bool) -> None:
    metrics = Metrics()
    metrics.add_turn("a", given, cached=False, total_ms=1.0)
    assert metrics.get_tenant("a").refused == refused


def test_concurrency_and_failures() -> None:
    metrics = Metrics()
    with metrics.track_turn("t"), metrics.track_turn("t"):
        assert metrics.get_tenant("t").in_flight == 2
    with pytest.raises(ValueError), metrics.track_turn("t"):
        raise ValueError
    own = metrics.get_tenant("t")
    assert (own.in_flight, own.peak, own.failed) == (0, 2, 1)


def test_one_tenant_never_reads_the_metrics_of_another() -> None:
    metrics = Metrics()
    metrics.add_turn("a", answer(), cached=False, total_ms=5.0)
    metrics.add_turn("b", answer(), cached=False, total_ms=5.0)
    recalls = {tenant: {DenseRecall.HNSW: 3} for tenant in "ab"}
    measured = MeasuredState(metrics, lambda _: CacheStats(), Backlog({}, {}, {}, {}), Statuses(), recalls)
    text = write_exposition(measured, "a").decode()
    assert 'yingda_dense_recalls_total{recall="hnsw",tenant="a"} 3.0' in text
    assert 'yingda_dense_recalls_total{recall="exact",tenant="a"} 0.0' in text
    assert "process_" not in text
    assert 'tenant="a"' in text
    assert 'tenant="b"' not in text
    assert 'yingda_turn_seconds_bucket{le="0.005",tenant="a"} 1.0' in text


def test_beyond_so_many_tenants_the_later_ones_are_counted_as_one() -> None:
    metrics = Metrics()
    for tenant, turns in (("a", 1), ("b", 2), ("c", 3), ("d", 4)):
        for _ in range(turns):
            metrics.add_turn(tenant, answer(), cached=False, total_ms=30_000.0)
        metrics.add_model_call(tenant, ModelCall("large", {}, Usage(1, 2, 3), 0.5, 12_000.0, "GenerationLate"))
    backlog = Backlog({("c", "waiting"): 5, ("d", "waiting"): 6}, {}, {}, {})
    measured = MeasuredState(metrics, lambda _: CacheStats(), backlog, Statuses(), named=2)
    lines = set(write_exposition(measured, None).decode().splitlines())
    assert {line for line in lines if line.startswith('yingda_turns_total{outcome="answered"')} == {
        'yingda_turns_total{outcome="answered",tenant="a"} 1.0',
        'yingda_turns_total{outcome="answered",tenant="b"} 2.0',
        'yingda_turns_total{outcome="answered",tenant="_other"} 7.0',
    }
    assert 'yingda_turn_seconds_bucket{le="20.0",tenant="_other"} 0.0' in lines
    assert 'yingda_turn_seconds_bucket{le="60.0",tenant="_other"} 7.0' in lines
    assert 'yingda_desk_sessions{state="waiting",tenant="_other"} 11.0' in lines
    assert 'yingda_llm_cost_total{model="large",tenant="_other"} 1.0' in lines
    assert 'yingda_llm_errors_total{error="GenerationLate",model="large",tenant="a"} 1.0' in lines
    own = write_exposition(measured, "d").decode()
    assert 'tenant="d"' in own and "_other" not in own
