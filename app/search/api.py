"""Hit test: the chat's own retrieval, with every number that decided."""

from __future__ import annotations

from typing import Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from agents.understanding.normalise import normalised
from app.errors import InvalidRequest
from app.http.deps import StaffTenant, Wiring
from app.http.failures import fails
from app.http.routes import GuardedRoute
from knowledge.text import clean
from knowledge.types import Candidate, Filter, GateVerdict, Retrieval

router = APIRouter(prefix="/api/v1/knowledge", tags=["search"], route_class=GuardedRoute)


class SearchFilter(BaseModel):
    """An empty list does not restrict; the fields are joined by AND."""

    document_ids: list[str] = Field(default=[], max_length=1000)
    categories: list[str] = Field(default=[], max_length=100)
    tags: list[str] = Field(default=[], max_length=100)


class SearchRequest(BaseModel):
    """A question to try."""

    query: str = Field(max_length=2000)
    top_k: int | None = Field(None, ge=1, le=200, description="最多返回几条；留空则返回检索给出的全部")
    filter: SearchFilter = SearchFilter()
    explain: bool = Field(False, description="为 true 时返回所有召回的候选，而不只是重排后的前几条")


class CandidateOut(BaseModel):
    """A candidate with all of its scores; only `probability` is comparable between scorers."""

    chunk_id: str
    document_id: str
    document_name: str
    title: str
    heading: str
    page: int | None
    question: str | None
    text: str
    vector_rank: int | None
    keyword_rank: int | None
    cosine: float
    bm25: float
    fused: float
    scorer: str
    score: float
    probability: float
    verdict: GateVerdict

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        chunk = candidate.chunk
        return cls(
            chunk_id=chunk.id,
            document_id=chunk.document.id,
            document_name=chunk.document.name,
            title=chunk.document.title,
            heading=" > ".join(chunk.heading_path),
            page=chunk.page,
            question=chunk.question,
            text=chunk.text,
            vector_rank=candidate.vector_rank,
            keyword_rank=candidate.keyword_rank,
            cosine=candidate.cosine,
            bm25=candidate.bm25,
            fused=candidate.fused,
            scorer=candidate.scorer,
            score=candidate.score,
            probability=candidate.probability,
            verdict=candidate.verdict,
        )


class SearchResponse(BaseModel):
    """What the chat would have to answer from."""

    query: str
    revision: int
    verdict: GateVerdict
    confidence: float
    terms: dict[str, float] = Field(description="问题的词及其 idf")
    degraded: list[str]
    timings_ms: dict[str, float]
    candidates: list[CandidateOut]

    @classmethod
    def of(cls, query: str, retrieval: Retrieval, top_k: int | None) -> Self:
        return cls(
            query=query,
            revision=retrieval.revision,
            verdict=retrieval.verdict,
            confidence=retrieval.confidence,
            terms=dict(zip(retrieval.terms, retrieval.idf, strict=True)),
            degraded=list(retrieval.degraded),
            timings_ms=retrieval.timings_ms,
            candidates=[CandidateOut.of(candidate) for candidate in retrieval.candidates[:top_k]],
        )


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
