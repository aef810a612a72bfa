from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from agents.types import Answer, Outcome, Usage
from app.db.engine import Database
from app.metrics import Metrics
from app.performance.repository_series import SeriesRepository
from app.performance.series import SeriesRecorder
from app.performance.series_api import MeasuredOut
from app.performance.tables import MetricPoint
from tests.app.serving import served

NOON = datetime(2026, 3, 1, 12, 30, 20, tzinfo=UTC)


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def answered(metrics: Metrics, total_ms: float, outcome: Outcome = Outcome.ANSWERED, *degraded: str) -> None:
    answer = Answer("好", outcome, "knowledge", "knowledge", degraded=degraded, usage=Usage(1, 100, 20))
    metrics.add_answer("t", answer)
    metrics.add_turn("t", answer, cached=False, total_ms=total_ms)


async def point(database: Database, step: str = "minute", moment: datetime = NOON) -> MeasuredOut:
    found = await SeriesRepository(database).read("t", step, moment - timedelta(hours=1), moment + timedelta(hours=1))
    assert len(found) == 1
    return MeasuredOut.from_counts(next(iter(found.values())))


async def test_two_processes_add_to_one_point_and_nothing_is_added_twice(database: Database) -> None:
    clock, repository = Clock(), SeriesRepository(database)
    processes = [(metrics, SeriesRecorder(metrics, repository, clock)) for metrics in (Metrics(), Metrics())]
    for metrics, recorder in processes:
        answered(metrics, 3.0)
        await recorder.save()
        await recorder.save()
    answered(processes[0][0], 800.0, Outcome.NO_EVIDENCE, "llm")
    await processes[0][1].save()
    for step in ("minute", "hour"):
        found = await point(database, step)
        assert (found.turns, found.refused, found.degraded) == (3, 1, 1)
        assert found.outcomes == {"answered": 2, "no_evidence": 1}
        assert found.degradations == {"llm": 1} and found.llm.prompt_tokens == 300
        total = found.total_ms
        assert (total.count, round(total.mean, 1)) == (3, 268.7)
        assert 2.5 < total.p50 <= 5.0 and 500 < total.p99 <= 1000


async def test_what_could_not_be_written_is_added_the_next_time(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = Metrics()
    recorder = SeriesRecorder(metrics, SeriesRepository(database), Clock())
    answered(metrics, 3.0)

    async def away(*_: object, **__: object) -> None:
        raise OSError("away")

    with monkeypatch.context() as patch:
        patch.setattr(database, "transact", away)
        with pytest.raises(OSError, match="away"):
            await recorder.save()
    await recorder.save()
    assert (await point(database)).turns == 1


async def test_minutes_go_after_two_days_and_hours_stay(database: Database) -> None:
    metrics, clock = Metrics(), Clock()
    recorder = SeriesRecorder(metrics, SeriesRepository(database), clock)
    answered(metrics, 3.0)
    await recorder.save()
    clock.now = NOON + timedelta(days=3)
    await recorder.save()
    async with database.read() as connection:
        counted = select(MetricPoint.step, func.count()).group_by(MetricPoint.step)
        left = {row[0] for row in await connection.execute(counted)}
    assert left == {"hour"}


async def test_the_endpoint_tells_points_and_their_sum(tmp_path: Path) -> None:
    async with served(tmp_path) as product, httpx.AsyncClient(base_url=product.address) as client:
        for text in ("你好", "陀螺仪怎么校准"):
            assert (await client.post("/api/v1/chat", json={"message": text})).status_code == 200
        await product.container.recorder.save()
        told = (await client.get("/api/v1/performance/series")).json()
        assert sum(item["turns"] for item in told["points"]) == told["total"]["turns"] == 2
        assert sum(told["total"]["outcomes"].values()) == 2
        assert told["total"]["total_ms"]["p95"] > 0 and told["total"]["stages"]["embed"]["count"] == 2
        later = {"from": "2030-01-01T00:00:00Z", "to": "2030-01-01T01:00:00Z"}
        assert (await client.get("/api/v1/performance/series", params=later)).json()["points"] == []
        wide = {"from": "2020-01-01T00:00:00Z"}
        cut = (await client.get("/api/v1/performance/series", params=wide)).json()
        assert datetime.fromisoformat(cut["to"]) - datetime.fromisoformat(cut["from"]) == timedelta(minutes=1500)
        assert cut["total"]["turns"] == 2
        first = {"to": "0001-01-01T00:30:00Z"}
        assert (await client.get("/api/v1/performance/series", params=first)).json()["points"] == []
        backwards = {"from": later["to"], "to": later["from"]}
        assert (await client.get("/api/v1/performance/series", params=backwards)).json()["points"] == []
