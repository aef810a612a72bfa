"""What language models cost the caller's tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.http.deps import AdminTenant, Wiring
from app.http.routes import GuardedRoute
from app.spending.types import MILLION

router = APIRouter(prefix="/api/v1/observability", tags=["observability"], route_class=GuardedRoute)


class SpendingRow(BaseModel):
    """One model on one day (UTC)."""

    day: str
    model: str = Field(description="模型名")
    calls: int = Field(description="请求次数，失败的也算")
    prompt_tokens: int
    completion_tokens: int
    cost: float = Field(description="费用，单位同 LLM_PRICES；没有写单价的模型为 0")


class BudgetOut(BaseModel):
    """Of a day (UTC); 0 is no limit."""

    tokens: int = Field(description="每天的 token 上限，收发合计；0 为不限")
    cost: float = Field(description="每天的费用上限，单位同 LLM_PRICES；0 为不限")
    exhausted: bool = Field(description="今天的预算是否用完；用完后回答摘自知识库原文")


class SpendingOut(BaseModel):
    """The newest day first."""

    budget: BudgetOut
    items: list[SpendingRow]


@router.get("/spending", response_model=SpendingOut)
async def read_spending(
    tenant: AdminTenant, wiring: Wiring, days: Annotated[int, Query(ge=1, le=366)] = 7
) -> SpendingOut:
    """Tokens and cost by day and model, and the day's budget."""
    accounts = wiring.accounts
    budget, rows = accounts.budget(tenant), await accounts.stored.days(tenant, days)
    exhausted = budget.exhausted(await accounts.today(tenant))
    return SpendingOut(
        budget=BudgetOut(tokens=budget.tokens, cost=budget.cost, exhausted=exhausted),
        items=[
            SpendingRow(
                day=entry.day,
                model=entry.model,
                calls=spent.calls,
                prompt_tokens=spent.prompt_tokens,
                completion_tokens=spent.completion_tokens,
                cost=spent.cost / MILLION,
            )
            for entry, spent in rows
        ],
    )
