"""Which pages customers are on, as the site's widget tells."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from agents.types import Page
from app.contacts.places import read_place
from app.contacts.service import Contacts
from app.errors import NotFound
from app.http.deps import HolderTenant, use_part
from app.http.failures import list_failures
from app.http.fields import SessionId
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.types import SessionKey
from knowledge.text import clean

ContactsDep = Annotated[Contacts, use_part("contacts")]

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)


class VisitIn(RequestBody):
    """A page that the customer opened."""

    url: str = Field(max_length=2048, description="网页地址；? 和 # 之后的部分不保存")
    title: str = Field("", max_length=500, description="网页标题")


@router.post("/{session_id}/visits", status_code=204, responses=list_failures(404))
async def report_visit(session_id: SessionId, body: VisitIn, tenant: HolderTenant, contacts: ContactsDep) -> Response:
    """Tells on which page the customer is; staff see it beside the conversation."""
    place = read_place(Page(url=clean(body.url), title=clean(body.title)))
    if place is not None and not await contacts.rows.add_visit(SessionKey(tenant, session_id), *place):
        raise NotFound("没有找到这个会话。", code="conversation_not_found", session_id=session_id)
    return Response(status_code=204)
