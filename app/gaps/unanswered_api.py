"""Questions that the knowledge base did not answer."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from agents.types import Outcome
from app.gaps.parts import Wiring
from app.gaps.schemas import UnansweredPage
from app.http.deps import StaffTenant
from app.http.fields import Offset
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/knowledge", tags=["gaps"], route_class=GuardedRoute)


@router.get("/gaps/questions", response_model=UnansweredPage)
async def list_unanswered(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="问题里的字")] = "",
    outcome: Annotated[Outcome | None, Query(description="最近一次是这个结论")] = None,
    order: Annotated[Literal["recent", "count"], Query(description="最近的在前，或次数多的在前")] = "recent",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> UnansweredPage:
    """Questions one by one, as they came in; `/gaps` has them clustered."""
    found, total = await wiring.unanswered.load_page(
        tenant, limit, offset, text=q, outcome=outcome or "", often=order == "count"
    )
    return UnansweredPage(questions=found, total=total)
