"""What whoever runs the server sees of the services that it depends on."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from app.auth.principal import DEFAULT_TENANT
from app.errors import Forbidden, NotFound
from app.http.deps import AdminTenant, use_part
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.http.schemas import ResponseBody
from knowledge.breaker import Breaker, BreakerState

BreakersDep = Annotated[dict[str, Breaker], use_part("breakers")]

router = APIRouter(prefix="/api/v1/observability", tags=["observability"], route_class=GuardedRoute)


class BreakerOut(ResponseBody):
    """The circuit breaker of a model elsewhere, in the process that answers."""

    name: str = Field(
        description="哪一家：llm 为 LLM_*，small 为 SMALL_LLM_*，embedding: 与 rerank: 开头的为向量接口与重排接口，"
        "其余为 LLM_PROVIDERS 里的 name"
    )
    model: str = Field(description="请求的模型")
    state: BreakerState = Field(description="closed 正常，open 暂停请求，half_open 放一个请求去试")
    failures: int = Field(description="最近连续失败的次数")
    opened: int = Field(description="启动以来暂停过几次")
    retry_in_seconds: float = Field(description="再过几秒放一个请求去试；没有暂停时为 0")

    @classmethod
    def from_breaker(cls, breaker: Breaker) -> Self:
        return cls.build_from(breaker, retry_in_seconds=round(breaker.retry_in, 3))


class BreakersOut(BaseModel):
    """The first provider, those of LLM_PROVIDERS in their order, the one that reads messages and replies, then
    embeddings and reranking.
    """

    items: list[BreakerOut]


@router.get("/circuit-breakers", response_model=BreakersOut)
async def list_circuit_breakers(tenant: AdminTenant, breakers: BreakersDep) -> BreakersOut:
    """The circuit breakers of this process. All tenants share them, so only the default tenant's keys see them."""
    _require_default_tenant(tenant)
    return BreakersOut(items=[BreakerOut.from_breaker(breaker) for breaker in breakers.values()])


@router.post("/circuit-breakers/{name}/reset", response_model=BreakerOut, responses=list_failures(404))
async def reset_circuit_breaker(
    tenant: AdminTenant, breakers: BreakersDep, name: Annotated[str, Path(max_length=32)]
) -> BreakerOut:
    """Lets requests pass at once, as if nothing had failed."""
    _require_default_tenant(tenant)
    breaker = breakers.get(name)
    if breaker is None:
        raise NotFound("没有这个名字的熔断器")
    breaker.reset()
    return BreakerOut.from_breaker(breaker)


def _require_default_tenant(tenant: str) -> None:
    if tenant != DEFAULT_TENANT:
        raise Forbidden("熔断器由所有租户共用，只有默认租户的管理员可以查看和恢复")
