"""What the tenant's administrators did."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.audit.actions import AuditOutcome
from app.audit.repository import AuditFilter
from app.http.deps import AdminTenant, Wiring
from app.http.fields import Moment, Offset
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/audit", tags=["audit"], route_class=GuardedRoute)


class AuditEntry(BaseModel):
    """An administrative action. No bodies, so no secrets."""

    id: str
    at: datetime = Field(description="何时")
    actor_id: str = Field(description="谁：密钥编号；没有密钥的本机为空，命令行为 scripts")
    actor: str = Field(description="谁：密钥的名称")
    action: str = Field(description="做了什么：接口在本文档里的名称，例如 revoke_key")
    target: dict[str, str] = Field(description="对什么：路径里的编号，以及新建对象的编号")
    outcome: AuditOutcome | None = Field(description="done 做了，refused 被拒绝，failed 出错；null 为进行中或中途断掉")
    request_id: str = Field(description="X-Request-ID，查日志用")


class AuditPage(BaseModel):
    """The latest first."""

    items: list[AuditEntry]
    total: int
    offset: int
    limit: int


@router.get("")
async def list_audit(
    tenant: AdminTenant,
    wiring: Wiring,
    actor: Annotated[str, Query(max_length=128, description="密钥的编号或名称")] = "",
    action: Annotated[str, Query(max_length=64, description="接口的名称，例如 revoke_key")] = "",
    outcome: AuditOutcome | None = None,
    since: Annotated[Moment | None, Query(description="从何时起")] = None,
    until: Annotated[Moment | None, Query(description="到何时为止，不含")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> AuditPage:
    """The tenant's audit log."""
    wanted = AuditFilter(actor, action, outcome, since, until)
    rows, total = await wiring.audit.repository.page(tenant, wanted, limit, offset)
    items = [AuditEntry.model_validate(row, from_attributes=True) for row in rows]
    return AuditPage(items=items, total=total, offset=offset, limit=limit)
