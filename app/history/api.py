"""Conversations found again, labelled and kept in views, and all that there is of a customer; for staff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import APIRouter, Path, Query, Response

from agents.types import Outcome
from agents.understanding.language import detect_english
from app.contacts.schemas import ContactIn, CustomerOut, LabelList, LabelsIn, VisitOut
from app.contacts.types import Customer
from app.errors import Conflict, NotFound
from app.history.repository_views import MOST
from app.history.schemas import (
    ContactNoteOut,
    ContactOut,
    ContactTicketOut,
    ContactVoteOut,
    FoundOut,
    HistoryPage,
    ViewFilter,
    ViewIn,
    ViewList,
    ViewOut,
)
from app.history.types import FoundConversation, HistoryFilter, SavedView, Standing
from app.http.deps import StaffTenant, Wired
from app.http.failures import list_failures
from app.http.fields import Moment, Offset
from app.http.routes import GuardedRoute
from app.types import SessionKey
from knowledge.text import clean

if TYPE_CHECKING:
    from app.contacts.service import Contacts
    from app.desk.human_desk import HumanDesk
    from app.history.repository import ConversationSearch
    from app.history.repository_contacts import ContactHistory
    from app.history.repository_views import SavedViews


class Parts(Protocol):
    """What these routes are served by."""

    contact_history: ContactHistory
    contacts: Contacts
    desk: HumanDesk
    history: ConversationSearch
    saved_views: SavedViews


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/agent", tags=["desk"], route_class=GuardedRoute)

SessionId = Annotated[str, Path(max_length=64)]
# Conversations of a customer.
SHOWN = 50


@router.get("/history")
async def search_history(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="说过的话、会话或工单的编号、顾客的编号或名字")] = "",
    customer: Annotated[str, Query(max_length=64, description="这个会话的顾客的")] = "",
    label: Annotated[str, Query(max_length=32, description="会话或顾客有这个标签")] = "",
    agent_id: Annotated[str, Query(max_length=64, description="这位客服接待过的")] = "",
    standing: Annotated[Standing | None, Query(description="open 正在人工，ended 人工已结束，bot 没有转过人工")] = None,
    outcome: Annotated[Outcome | None, Query(description="智能客服有一轮是这个结论")] = None,
    priority: Annotated[int | None, Query(ge=0, le=2)] = None,
    since: Annotated[Moment | None, Query(description="最后一轮在这时之后，要带时区")] = None,
    until: Annotated[Moment | None, Query(description="最后一轮在这时之前，要带时区")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
    offset: Offset = 0,
) -> HistoryPage:
    """Conversations by what was said in them, by customer, label, staff, outcome and date; the latest first."""
    text = clean(q).strip()
    wanted = HistoryFilter(text, customer, label, agent_id, standing, outcome or "", priority, since, until)
    found, total = await wiring.history.search(tenant, wanted, limit, offset)
    return HistoryPage(conversations=await _build_list(wiring, tenant, found), total=total)


@router.get("/labels")
async def list_labels(tenant: StaffTenant, wiring: Wiring) -> LabelList:
    """The labels that conversations and customers have."""
    return LabelList(labels=await wiring.contacts.rows.list_known_labels(tenant))


@router.put("/sessions/{session_id}/labels", status_code=204, responses=list_failures(404))
async def label_conversation(session_id: SessionId, body: LabelsIn, tenant: StaffTenant, wiring: Wiring) -> Response:
    """Gives a conversation its labels, those of before are gone."""
    key = SessionKey(tenant, session_id)
    if not await wiring.contacts.rows.set_conversation_labels(key, body.labels):
        raise _build_not_found(session_id)
    wiring.desk.feed.wake_watchers(key)
    return Response(status_code=204)


@router.get("/sessions/{session_id}/contact", responses=list_failures(404))
async def read_contact(session_id: SessionId, tenant: StaffTenant, wiring: Wiring) -> ContactOut:
    """Whose conversation it is, and all that there is of that customer."""
    customer = await _require(wiring, tenant, session_id)
    sessions = await wiring.contacts.rows.list_sessions(tenant, customer.key)
    about, rows = wiring.contact_history, wiring.contacts.rows
    found, total = await wiring.history.search(tenant, HistoryFilter(customer=session_id), SHOWN)
    first, last = await about.load_period(tenant, sessions)
    told = (detect_english(text) for text in await about.load_last_questions(tenant, sessions))
    is_english = next((one for one in told if one is not None), None)
    return ContactOut(
        customer=CustomerOut.from_customer(customer),
        language=None if is_english is None else "en" if is_english else "zh",
        channel=next((one.channel for one in found if one.session_id == session_id), ""),
        first_seen=first,
        last_seen=last,
        visits=[VisitOut.model_validate(visit) for visit in await rows.list_visits(tenant, customer.key)],
        conversations=await _build_list(wiring, tenant, found),
        total=total,
        tickets=[
            ContactTicketOut.model_validate(one)
            for one in await about.list_tickets(tenant, sessions, customer.key.caller)
        ],
        notes=[ContactNoteOut.model_validate(one) for one in await about.list_notes(tenant, sessions)],
        votes=[ContactVoteOut.model_validate(one) for one in await about.list_votes(tenant, sessions)],
    )


@router.put("/sessions/{session_id}/contact", responses=list_failures(404))
async def name_contact(session_id: SessionId, body: ContactIn, tenant: StaffTenant, wiring: Wiring) -> CustomerOut:
    """Gives the customer of a conversation the name and the labels that staff see; customers never see them."""
    customer = await _require(wiring, tenant, session_id)
    await wiring.contacts.rows.name_contact(tenant, customer.key, body.name, body.labels)
    wiring.desk.feed.wake_watchers(SessionKey(tenant, session_id))
    return CustomerOut.from_customer(await _require(wiring, tenant, session_id))


@router.get("/views")
async def list_saved_views(
    tenant: StaffTenant,
    wiring: Wiring,
    agent_id: Annotated[str, Query(max_length=64, description="也列出这位客服自己的")] = "",
) -> ViewList:
    """Searches that staff keep: everybody's and one's own."""
    return ViewList(views=[_build_view(view) for view in await wiring.saved_views.list_visible(tenant, agent_id)])


@router.post("/views", status_code=201, responses=list_failures(409))
async def save_view(body: ViewIn, tenant: StaffTenant, wiring: Wiring) -> ViewOut:
    """Keeps a search under a name."""
    wanted = body.filter.model_dump(mode="json", exclude_defaults=True)
    owner = "" if body.shared else body.agent_id
    view = await wiring.saved_views.add(tenant, owner, body.name, wanted)
    if view is None:
        raise Conflict(f"已有 {MOST} 个视图，请先删掉不用的。", code="too_many_views")
    return _build_view(view)


@router.delete("/views/{view_id}", status_code=204, responses=list_failures(404))
async def delete_view(view_id: Annotated[str, Path(max_length=32)], tenant: StaffTenant, wiring: Wiring) -> Response:
    """Deletes a view, also one of everybody's."""
    if not await wiring.saved_views.drop(tenant, view_id):
        raise NotFound("没有找到这个视图，可能已被删除。", code="view_not_found")
    return Response(status_code=204)


async def _build_list(wiring: Wiring, tenant: str, found: Sequence[FoundConversation]) -> list[FoundOut]:
    ids = [one.session_id for one in found]
    customers = await wiring.contacts.load_customers(tenant, ids)
    labels = await wiring.contacts.rows.load_labels(tenant, ids)
    listed = []
    for one in found:
        customer = customers.get(one.session_id)
        shown = CustomerOut.from_customer(customer) if customer else None
        listed.append(FoundOut.build_from(one, labels=labels.get(one.session_id, ()), customer=shown))
    return listed


async def _require(wiring: Wiring, tenant: str, session_id: str) -> Customer:
    customer = await wiring.contacts.find(tenant, session_id)
    if customer is None:
        raise _build_not_found(session_id)
    return customer


def _build_view(view: SavedView) -> ViewOut:
    shown = ViewFilter.model_validate(view.filter)
    return ViewOut(id=view.id, name=view.name, filter=shown, shared=not view.agent_id, created_at=view.created_at)


def _build_not_found(session_id: str) -> NotFound:
    return NotFound("没有找到这个会话，可能已被删除。", code="conversation_not_found", session_id=session_id)
