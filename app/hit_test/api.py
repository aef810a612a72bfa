"""Hit test: the chat's own retrieval and decision, with every number that decided."""

from __future__ import annotations

from fastapi import APIRouter, Request

from app.hit_test.schemas import SearchRequest, SearchResponse
from app.http.deps import StaffTenant, Wiring
from app.http.failures import fails
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/knowledge", tags=["search"], route_class=GuardedRoute)


@router.post("/search", response_model=SearchResponse, responses=fails(409))
async def search_knowledge(
    body: SearchRequest, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SearchResponse:
    """Searches as the chat does, and says why what was expected is not found."""
    async with wiring.limits.slots.slot(tenant, request.state.sender.key):
        tried = await wiring.hit_test.run(tenant, body.trial())
    return SearchResponse.of(tried, body.top_k, explain=body.explain)
