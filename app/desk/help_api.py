"""What helps a person at the desk: drafts, rows, solutions, and who else is there."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from agents.types import Question, RowSource
from agents.understanding.spelling import correct_spelling
from app.conversations.questions import hash_question
from app.conversations.schemas import RowSourceOut, SourceOut
from app.desk.api import SessionId, require
from app.desk.assist import Advice, ask_business, ask_knowledge, build_last_question, extract_draft
from app.desk.parts import Wiring
from app.desk.schemas import (
    AdviceOut,
    CandidateBrief,
    PresenceIn,
    SolutionIn,
    SolutionKept,
    SolutionList,
    SolutionOut,
    StaffIn,
    StaffList,
    StaffOut,
)
from app.desk.solutions import find_question, is_angry
from app.desk.types import DeskMessage, DeskSession, Sender, State
from app.errors import Conflict
from app.http.deps import AdminTenant, StaffTenant, get_acting_agent
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.privacy import mask_personal_data
from knowledge.text import clean

router = APIRouter(prefix="/api/v1/agent", tags=["desk"], route_class=GuardedRoute)

AgentId = Annotated[str, Path(min_length=1, max_length=64)]
Asked = Annotated[str, Query(max_length=2000, description="另问一句；留空为顾客的最后一句")]
# Messages from which a solution is taken.
LOOKED_AT = 500
_DONE = frozenset({State.RESOLVED, State.CLOSED, State.BOT})


@router.get("/sessions/{session_id}/knowledge-recommend", responses=list_failures(404, 409))
async def recommend_knowledge(
    session_id: SessionId, tenant: StaffTenant, wiring: Wiring, question: Asked = ""
) -> AdviceOut:
    """Fragments of the knowledge base for the customer's last message, and a draft of a reply."""
    asked = await _build_question(wiring, tenant, session_id, question)
    if not asked.utterance.original:
        raise Conflict("顾客还没有说过话，请在 question 里写明要查什么。", code="nothing_asked")
    roster, speller = await wiring.get_roster(tenant), await wiring.get_speller(tenant)
    asked = replace(asked, utterance=await correct_spelling(speller, asked.utterance))
    async with wiring.limits.slots.open_slot(tenant):
        advice = await ask_knowledge(roster, asked)
        return _build_advice(advice, extract_draft(advice.answer))


@router.get("/sessions/{session_id}/business-assist", responses=list_failures(404, 409))
async def assist_with_business(
    session_id: SessionId, tenant: StaffTenant, wiring: Wiring, question: Asked = ""
) -> AdviceOut:
    """Rows of the business database that belong to the customer of this session."""
    asked = await _build_question(wiring, tenant, session_id, question)
    roster = await wiring.get_roster(tenant)
    async with wiring.limits.slots.open_slot(tenant):
        advice = await ask_business(roster, asked, session_id)
        return _build_advice(advice, advice.answer.reply)


@router.post("/sessions/{session_id}/solution", status_code=201, responses=list_failures(404, 409))
async def write_solution(
    session_id: SessionId, body: SolutionIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SolutionKept:
    """Keeps question and answer of a resolved session for the knowledge base, without personal data: as the draft of
    a gap, which somebody reviews.
    """
    session = await require(wiring, tenant, session_id)
    if session.state not in _DONE or session.resolved_at is None:
        raise Conflict("会话还没有解决，解决之后才能整理成答案。", code="not_resolved", state=session.state.value)
    said = await _load_recent_messages(session, wiring)
    question = mask_personal_data(body.question or find_question(session, said))
    answer = mask_personal_data(body.answer or "\n".join(item.content for item in said if item.sender is Sender.AGENT))
    if not answer or (not question and not is_angry(session)):
        raise Conflict("这个会话里没有可用的问题或客服回复，请在请求里写明 question 与 answer。", code="nothing_said")
    agent_id = get_acting_agent(request, body.agent_id) or session.agent_id
    key = hash_question(question) if question else ""
    kept = await wiring.desk.solutions.put(session.key, key, question, answer, agent_id)
    principal = request.state.principal
    author = principal.name if principal.agent_id else agent_id  # reviewers are told apart by the names of accounts
    gap_id = ""
    if question:
        gap_id = await wiring.gap_intake.add_solution(tenant, kept.id, session_id, question, answer, author)
    return SolutionKept.build_from(kept, gap_id=gap_id)


@router.get("/sessions/{session_id}/solution")
async def list_session_solutions(session_id: SessionId, tenant: StaffTenant, wiring: Wiring) -> SolutionList:
    """What was kept of this session."""
    found, total = await wiring.desk.solutions.load_page(tenant, session_id=session_id)
    return SolutionList(solutions=[SolutionOut.model_validate(item) for item in found], total=total)


@router.get("/solutions")
async def list_solutions(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="问题或答案里的字")] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 200,
) -> SolutionList:
    """What people answered, the latest first."""
    found, total = await wiring.desk.solutions.load_page(tenant, text=q, offset=offset, limit=limit)
    return SolutionList(solutions=[SolutionOut.model_validate(item) for item in found], total=total)


@router.get("/staff")
async def list_staff(tenant: StaffTenant, wiring: Wiring) -> StaffList:
    """Everybody who serves."""
    return StaffList(staff=[StaffOut.model_validate(member) for member in await wiring.desk.staff.list_all(tenant)])


@router.put("/staff/{agent_id}", responses=list_failures(404))
async def write_staff(agent_id: AgentId, body: StaffIn, tenant: AdminTenant, wiring: Wiring) -> StaffOut:
    """Describes a member of staff: name, skills, teams, hours, capacity."""
    await wiring.desk.teams.require_all(tenant, body.teams)
    await wiring.desk.staff.put(tenant, agent_id, body.build_duty(body.name))
    return StaffOut.model_validate(await wiring.desk.staff.get(tenant, agent_id))


@router.post("/staff/{agent_id}/presence", status_code=204)
async def report_presence(
    agent_id: AgentId, body: PresenceIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> Response:
    """Comes on duty, or leaves; to be repeated every few minutes without an open socket."""
    get_acting_agent(request, agent_id)
    staff = wiring.desk.staff
    if body.name:
        await staff.set_name(tenant, agent_id, body.name)
    await (staff.mark_seen(tenant, agent_id) if body.online else staff.mark_gone(tenant, agent_id))
    return Response(status_code=204)


async def _build_question(wiring: Wiring, tenant: str, session_id: str, question: str) -> Question:
    session = await require(wiring, tenant, session_id)
    turns = await wiring.conversations.load_last_turns(tenant, session_id, wiring.settings.history_turns or 1)
    rows = wiring.rows_to_model
    return build_last_question(turns, session.caller, clean(question).strip(), rows_to_model=rows)


async def _load_recent_messages(session: DeskSession, wiring: Wiring) -> list[DeskMessage]:
    """Loads the messages since the session was queued the last time."""
    since = session.queued_at
    messages = await wiring.desk.messages.load_after(session.key, max(session.messages - LOOKED_AT, 0), LOOKED_AT)
    return [item for item in messages if since and item.created_at >= since]


def _build_advice(advice: Advice, draft: str) -> AdviceOut:
    answer = advice.answer
    return AdviceOut(
        question=advice.question,
        outcome=answer.outcome.value,
        draft=draft,
        confidence=answer.confidence,
        sources=[
            RowSourceOut(index="SQL", **asdict(source))
            if isinstance(source, RowSource)
            else SourceOut.model_validate(source, from_attributes=True)
            for source in answer.sources
        ],
        candidates=[
            CandidateBrief(
                document_id=item.chunk.document.id,
                title=item.chunk.document.title,
                heading=" > ".join(item.chunk.heading_path),
                text=item.chunk.text,
                probability=item.probability,
            )
            for item in advice.candidates
        ],
        degraded=list(answer.degraded),
    )
