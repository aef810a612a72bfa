"""Metrics over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.db.base import now
from app.http.deps import AdminTenant
from app.http.fields import Moment
from app.http.routes import GuardedRoute
from app.metrics import STAGES
from app.performance.api import LlmOut
from app.performance.parts import Wiring
from app.performance.series import TOTALS, Interval, estimate_percentile, group_counts

router = APIRouter(prefix="/api/v1/performance", tags=["performance"], route_class=GuardedRoute)

MAX_POINTS = 1500
_USUAL = {Interval.MINUTE: 60, Interval.HOUR: 24}


class SpreadOut(BaseModel):
    """Milliseconds; percentiles are estimated from a histogram."""

    count: int
    mean: float
    p50: float
    p95: float
    p99: float

    @classmethod
    def from_buckets(cls, buckets: Counter[str], microseconds: int) -> Self:
        """buckets: see `estimate_percentile`; microseconds: of all of them."""
        p50, p95, p99 = (round(estimate_percentile(buckets, share), 3) for share in (0.5, 0.95, 0.99))
        count = buckets.total()
        mean = round(microseconds / 1000 / count, 3) if count else 0.0
        return cls(count=count, mean=mean, p50=p50, p95=p95, p99=p99)


class MeasuredOut(BaseModel):
    """What happened within some time."""

    turns: int
    cached: int = Field(description="不必重新计算的轮数")
    refused: int = Field(description="没有作答的轮数")
    degraded: int = Field(description="有部件出故障的轮数")
    failed: int = Field(description="以错误结束的轮数")
    outcomes: dict[str, int] = Field(description="各种结论的轮数")
    degradations: dict[str, int] = Field(description="各个部件出故障的轮数")
    rejections: dict[str, int] = Field(description="各种原因没有接受的消息数")
    limited: dict[str, int] = Field(description="各种限流拒绝的请求数")
    llm: LlmOut
    total_ms: SpreadOut
    first_token_ms: SpreadOut
    stages: dict[str, SpreadOut] = Field(description="各阶段耗时（毫秒），没有经过的阶段不出现")

    @classmethod
    def from_counts(cls, named: Mapping[str, int], **fields: datetime) -> Self:
        """named: counters, see `app.performance.series.list_counts`; fields: others."""
        groups = group_counts(named)
        spreads = {
            name: SpreadOut.from_buckets(groups[f"ms:{name}"], groups["us"][name])
            for name in ("total", "first_token", *STAGES)
        }
        return cls.model_validate(
            fields
            | {name: groups[name].total() for name in TOTALS}
            | {field: dict(groups[kind]) for kind, field in _GROUPS.items()}
            | {f"{name}_ms": spreads.pop(name) for name in ("total", "first_token")}
            | {"stages": {stage: spread for stage, spread in spreads.items() if spread.count}}
            | {"llm": {name: groups["llm"][name] for name in LlmOut.model_fields}}
        )


_GROUPS = {"outcome": "outcomes", "outage": "degradations", "rejected": "rejections", "limited": "limited"}


class PointOut(MeasuredOut):
    """One minute or hour."""

    at: datetime = Field(description="从这时起的一分钟或一小时")


class SeriesOut(BaseModel):
    """The points in which something happened, the oldest first."""

    step: Interval
    start: datetime = Field(serialization_alias="from", description="从何时起")
    end: datetime = Field(serialization_alias="to", description="到何时止")
    points: list[PointOut]
    total: MeasuredOut = Field(description="整段时间合计")


@router.get("/series")
async def read_series(
    tenant: AdminTenant,
    wiring: Wiring,
    start: Annotated[
        Moment | None, Query(alias="from", description=f"从何时起，要带时区；最多为 to 之前的 {MAX_POINTS} 个点")
    ] = None,
    end: Annotated[Moment | None, Query(alias="to", description="到何时止，要带时区；默认现在")] = None,
    step: Interval = Interval.MINUTE,
) -> SeriesOut:
    """What was measured by minute or hour, of all processes; `from` and `to` of the answer say of which time."""
    until = end or now()
    since = step.begin(start or _subtract_span(until, _USUAL[step] * step.length))
    since = max(since, _subtract_span(until, MAX_POINTS * step.length))
    found = await wiring.series.read(tenant, step.value, since, until)
    points = [PointOut.from_counts(named, at=at) for at, named in found.items()]
    total = MeasuredOut.from_counts(sum(found.values(), Counter()))
    return SeriesOut(step=step, start=since, end=until, points=points, total=total)


def _subtract_span(moment: datetime, span: timedelta) -> datetime:
    try:
        return moment - span
    except OverflowError:  # in the year 1
        return datetime.min.replace(tzinfo=UTC)
