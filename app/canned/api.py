"""Replies that staff have ready, to be inserted by a shortcut."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from app.canned.service import CannedReplies
from app.http.deps import StaffTenant, use_part
from app.http.failures import list_failures
from app.http.fields import CLEANED, VISIBLE
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody, ResponseBody

CannedDep = Annotated[CannedReplies, use_part("canned")]

router = APIRouter(prefix="/api/v1/agent/canned", tags=["desk"], route_class=GuardedRoute)

Shortcut = Annotated[str, Field(min_length=1, max_length=32, pattern=rf"^{VISIBLE}+$")]
CannedId = Annotated[str, Path(max_length=32)]


class CannedIn(RequestBody):
    """A reply to have ready."""

    shortcut: Shortcut = Field(description="快捷词，不含空格")
    text: Annotated[str, CLEANED, Field(min_length=1, max_length=4000, description="回复的文字")]


class CannedOut(ResponseBody):
    """A reply that is ready."""

    id: str
    shortcut: str
    text: str
    updated_at: datetime


class CannedList(BaseModel):
    """All of the tenant, by their shortcuts."""

    replies: list[CannedOut]


@router.get("")
async def list_canned_replies(tenant: StaffTenant, canned: CannedDep) -> CannedList:
    """All replies that are ready."""
    found = await canned.list_all(tenant)
    return CannedList(replies=[CannedOut.model_validate(reply) for reply in found])


@router.post("", status_code=201, responses=list_failures(409))
async def add_canned_reply(body: CannedIn, tenant: StaffTenant, canned: CannedDep) -> CannedOut:
    """Keeps a reply for all staff."""
    return CannedOut.model_validate(await canned.add(tenant, body.shortcut, body.text))


@router.put("/{canned_id}", responses=list_failures(404, 409))
async def change_canned_reply(canned_id: CannedId, body: CannedIn, tenant: StaffTenant, canned: CannedDep) -> CannedOut:
    """Writes a reply anew."""
    return CannedOut.model_validate(await canned.change(tenant, canned_id, body.shortcut, body.text))


@router.delete("/{canned_id}", status_code=204, responses=list_failures(404))
async def delete_canned_reply(canned_id: CannedId, tenant: StaffTenant, canned: CannedDep) -> Response:
    """Deletes a reply."""
    await canned.drop(tenant, canned_id)
    return Response(status_code=204)
