"""Performance endpoints: what the caller's tenant measured, cached and used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from app.conversations.questions import is_same_question
from app.errors import InvalidRequest
from app.http.deps import AdminTenant
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from app.metrics import WINDOW_SECONDS, Durations, TenantMetrics
from app.performance.parts import Wiring
from knowledge.stores.base import DenseRecall
from knowledge.types import Retrieval

router = APIRouter(prefix="/api/v1/performance", tags=["performance"], route_class=GuardedRoute)


class DurationsOut(BaseModel):
    """`count` since the start; percentiles in milliseconds over the last minutes."""

    count: int
    p50: float
    p95: float
    p99: float

    @classmethod
    def from_durations(cls, durations: Durations) -> Self:
        p50, p95, p99 = durations.compute_percentiles(0.5, 0.95, 0.99)
        return cls(count=durations.count, p50=p50, p95=p95, p99=p99)


class ConcurrencyOut(ResponseBody):
    """Turns that are being answered now, and the most there ever were at once."""

    in_flight: int
    peak: int


class LlmOut(ResponseBody):
    """What language models were asked since the start."""

    calls: int
    prompt_tokens: int
    completion_tokens: int


class DenseRecallsOut(BaseModel):
    """How often which dense recall answered."""

    exact: int = Field(description="逐条精确计算：片段不超过 EXACT_SEARCH_MAX_CHUNKS，或过滤后所剩不多")
    hnsw: int = Field(description="由 Chroma 的 HNSW 图近似查找")


class MetricsOut(ResponseBody):
    """Counts are since the start of this process."""

    window_seconds: float = Field(description="分位数的时间窗口（秒）")
    stages: dict[str, DurationsOut] = Field(description="各阶段耗时（毫秒）；尚未用到的阶段 count 为 0")
    first_token_ms: DurationsOut
    total_ms: DurationsOut
    concurrency: ConcurrencyOut
    turns: int
    failed: int
    outcomes: dict[str, int]
    cache_hit_rate: float = Field(description="不必重新计算的比例")
    refusal_rate: float
    degradation_rate: float
    llm: LlmOut
    dense_recalls: DenseRecallsOut = Field(description="向量召回由谁回答，校准的检索也算")

    @classmethod
    def from_metrics(cls, own: TenantMetrics, hit_rate: float, recalls: Mapping[DenseRecall, int]) -> Self:
        return cls.build_from(
            own,
            window_seconds=WINDOW_SECONDS,
            stages={stage: DurationsOut.from_durations(durations) for stage, durations in own.stages.items()},
            first_token_ms=DurationsOut.from_durations(own.first_token),
            total_ms=DurationsOut.from_durations(own.total),
            concurrency=ConcurrencyOut.build_from(own),
            cache_hit_rate=hit_rate,
            refusal_rate=own.refused / own.turns if own.turns else 0.0,
            degradation_rate=own.degraded / own.turns if own.turns else 0.0,
            dense_recalls=DenseRecallsOut(**{recall.value: recalls.get(recall, 0) for recall in DenseRecall}),
        )


class RetrievalCacheOut(ResponseBody):
    """The cache behind: results of searches."""

    size: int
    hits: int
    misses: int


class CacheStatsOut(ResponseBody):
    """The hot cache, as far as the tenant is concerned; `max_size` is for all tenants."""

    enabled: bool
    size: int
    max_size: int
    ttl_seconds: float
    hits: int
    shared: int = Field(description="与正在进行的计算合并的次数")
    misses: int
    hit_rate: float
    saved_ms: float = Field(description="省下的计算时间（毫秒）")
    saved_llm_calls: int
    saved_llm_tokens: int
    retrieval: RetrievalCacheOut


class InvalidateRequest(BaseModel):
    """All of the tenant's entries, unless narrowed to one document or one question."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"properties": {name: {"type": "null"}}} for name in ("document_id", "question")]}
    )

    document_id: str | None = Field(None, min_length=1, max_length=64)
    question: str | None = Field(None, min_length=1, max_length=2000)


class InvalidateOut(BaseModel):
    """`cleared` counts answers."""

    success: bool
    cleared: int
    message: str


class DayOut(BaseModel):
    """Counters of one day (UTC)."""

    day: str
    counts: dict[str, int]


class UsageOut(BaseModel):
    """The newest day first."""

    days: list[DayOut]


@router.get("/metrics", response_model=MetricsOut)
async def read_metrics(tenant: AdminTenant, wiring: Wiring) -> MetricsOut:
    """Durations, concurrency, rates and language models."""
    hit_rate = wiring.hot_cache.get_stats(tenant).hit_rate
    return MetricsOut.from_metrics(wiring.metrics.get_tenant(tenant), hit_rate, wiring.recalls.get(tenant, {}))


@router.get("/cache/stats", response_model=CacheStatsOut, responses=list_failures(409))
async def read_cache_stats(tenant: AdminTenant, wiring: Wiring) -> CacheStatsOut:
    """Hits and what they saved."""
    cache, stats = wiring.hot_cache, wiring.hot_cache.get_stats(tenant)
    parts = await wiring.tenants.get_parts(tenant)
    behind, tuned = parts.retriever.cache, parts.tuned.settings
    return CacheStatsOut.build_from(
        stats,
        enabled=tuned.hot_cache_max_size > 0,
        size=cache.count_entries(tenant),
        max_size=tuned.hot_cache_max_size,
        ttl_seconds=tuned.hot_cache_ttl,
        saved_ms=round(stats.saved_ms, 3),
        saved_llm_calls=stats.saved_llm.calls,
        saved_llm_tokens=stats.saved_llm.prompt_tokens + stats.saved_llm.completion_tokens,
        retrieval=RetrievalCacheOut.build_from(behind, size=len(behind)),
    )


@router.post("/cache/invalidate", response_model=InvalidateOut, responses=list_failures(409))
async def invalidate_cache(tenant: AdminTenant, wiring: Wiring, body: InvalidateRequest | None = None) -> InvalidateOut:
    """Forgets cached answers and search results. A changed knowledge base needs none of this."""
    wanted = body or InvalidateRequest()
    if wanted.document_id is not None and wanted.question is not None:
        raise InvalidRequest("document_id 与 question 只能给一个")

    def keep(found: Retrieval) -> bool:
        if wanted.document_id is not None:
            return all(candidate.chunk.document.id != wanted.document_id for candidate in found.candidates)
        return wanted.question is not None and not is_same_question(found.question, wanted.question)

    searches = (await wiring.tenants.get_parts(tenant)).retriever.cache.clear(keep)
    cleared = await wiring.hot_cache.invalidate(tenant, document_id=wanted.document_id, question=wanted.question)
    if wiring.news is not None:
        wiring.news.send_cleared(tenant)
    message = f"已清除 {cleared} 条缓存的回答和 {searches} 条检索结果。"
    return InvalidateOut(success=True, cleared=cleared, message=message)


@router.get("/usage", response_model=UsageOut)
async def read_usage(tenant: AdminTenant, wiring: Wiring, days: Annotated[int, Query(ge=1, le=366)] = 7) -> UsageOut:
    """What was used on each of the last days."""
    found = await wiring.usage.load_days(tenant, days)
    return UsageOut(days=[DayOut(day=day, counts=counts) for day, counts in found.items()])
