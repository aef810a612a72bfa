"""What language models cost the caller's tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.http.deps import AdminTenant, use_part
from app.http.routes import GuardedRoute
from app.spending.service import Accounts
from app.spending.types import MILLION

AccountsDep = Annotated[Accounts, use_part("accounts")]

router = APIRouter(prefix="/api/v1/observability", tags=["observability"], route_class=GuardedRoute)


class SpendingRow(BaseModel):
    """One model on one day (UTC)."""

    day: str
    model: str = Field(description="模型名")
    calls: int = Field(description="请求次数，失败的也算")
    prompt_tokens: int
    completion_tokens: int
    cost: float = Field(description="费用，单位同 LLM_PRICES；没有写单价的模型为 0")


class UnreadableRow(BaseModel):
    """One model of a provider on one day (UTC)."""

    day: str
    provider: str = Field(description="提供商：接口地址所属的一家，如 deepseek；本机模型为 gguf")
    model: str = Field(description="模型名")
    replies: int = Field(description="读不懂的回复：要求按格式回，再请求一次之后仍然读不懂")


class BudgetOut(BaseModel):
    """Of a day (UTC); 0 is no limit."""

    tokens: int = Field(description="每天的 token 上限，收发合计；0 为不限")
    cost: float = Field(description="每天的费用上限，单位同 LLM_PRICES；0 为不限")
    exhausted: bool = Field(description="今天的预算是否用完；用完后回答摘自知识库原文")


class SpendingOut(BaseModel):
    """The newest day first."""

    budget: BudgetOut
    items: list[SpendingRow]
    unreadable: list[UnreadableRow] = Field(description="读不懂的回复，按提供商与模型；没有的不列")


@router.get("/spending", response_model=SpendingOut)
async def read_spending(
    tenant: AdminTenant, accounts: AccountsDep, days: Annotated[int, Query(ge=1, le=366)] = 7
) -> SpendingOut:
    """Tokens and cost by day and model, and the day's budget."""
    budget, rows = accounts.get_budget(tenant), await accounts.stored.load_days(tenant, days)
    unreadable = await accounts.stored.load_unreadable(tenant, days)
    today = await accounts.load_today(tenant)
    exhausted = budget.is_exhausted(today.tokens, today.cost / MILLION)
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
        unreadable=[
            UnreadableRow(day=one.day, provider=one.provider, model=one.model, replies=count)
            for one, count in unreadable
        ],
    )
