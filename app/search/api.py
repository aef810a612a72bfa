"""Hit test: the chat's own retrieval, with every number that decided."""

from __future__ import annotations

from fastapi import APIRouter, Request

from agents.understanding.normalise import normalised
from app.errors import InvalidRequest
from app.http.deps import StaffTenant, Wiring
from app.http.failures import fails
from app.http.routes import GuardedRoute
from app.search.schemas import SearchRequest, SearchResponse
from knowledge.text import clean
from knowledge.types import Filter

router = APIRouter(prefix="/api/v1/knowledge", tags=["search"], route_class=GuardedRoute)


@router.post("/search", response_model=SearchResponse, responses=fails(409))
async def search_knowledge(
    body: SearchRequest, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SearchResponse:
    """Searches as the chat does."""
    query = clean(body.query).strip()
    if not query:
        raise InvalidRequest("query 不能为空")
    where = Filter(
        document_ids=frozenset(body.filter.document_ids),
        categories=frozenset(body.filter.categories),
        tags=frozenset(body.filter.tags),
    )
    retriever = (await wiring.tenants.of(tenant)).retriever
    async with wiring.limits.slots.slot(tenant, request.state.sender.key):
        found = await retriever.search(normalised(query), where=where, explain=body.explain)
    return SearchResponse.of(query, found, body.top_k)
