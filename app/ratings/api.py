"""The customer's word on having been served by a person: 1 to 5, and why."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field, StrictInt

from app.errors import Conflict
from app.http.deps import HolderTenant, use_part
from app.http.failures import list_failures
from app.http.fields import CLEANED, WHOLE, SessionId
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.ratings.repository import RatingRepository
from app.types import SessionKey

RatingsDep = Annotated[RatingRepository, use_part("ratings")]

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)


class RatingIn(RequestBody):
    """How it was."""

    score: Annotated[StrictInt, Field(ge=1, le=5), WHOLE] = Field(description="1 很不满意，5 很满意")
    comment: Annotated[str, CLEANED, Field(max_length=500)] = Field("", description="一句话，可以不写")


class RatingOut(BaseModel):
    """Whether the customer is asked for a rating."""

    asked: bool = Field(description="人工服务结束后七天内、还没评过时为 true")
    score: int = Field(description="这次人工服务已经给出的分；没有时为 0")


@router.get("/{session_id}/rating")
async def read_rating(session_id: SessionId, tenant: HolderTenant, ratings: RatingsDep) -> RatingOut:
    """Whether there is something to rate, and what was given for it."""
    state = await ratings.load_state(SessionKey(tenant, session_id))
    return RatingOut(asked=state.asked, score=state.score)


@router.post("/{session_id}/rating", status_code=201, responses=list_failures(409))
async def rate_service(session_id: SessionId, body: RatingIn, tenant: HolderTenant, ratings: RatingsDep) -> RatingOut:
    """Rates what a person did in a conversation that ended, once."""
    if not await ratings.add(SessionKey(tenant, session_id), body.score, body.comment):
        raise Conflict("现在没有可以评价的人工服务，或者已经评过了。", code="nothing_to_rate", session_id=session_id)
    return RatingOut(asked=False, score=body.score)
