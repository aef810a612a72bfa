"""The human desk: who waits, who serves, what is said."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from app.db.base import now
from app.desk.moves import build_not_found
from app.desk.parts import Wiring
from app.desk.schemas import (
    AcceptIn,
    DeskMessageOut,
    MessageIn,
    MessageList,
    NoteIn,
    NoteOut,
    ReadIn,
    ReadOut,
    ResolveIn,
    SessionDetail,
    SessionList,
    SessionOut,
    SessionPatch,
    TransferIn,
    ViewerOut,
)
from app.desk.types import PAGE, Actor, DeskMessage, DeskSession
from app.errors import InvalidRequest
from app.http.deps import StaffTenant, get_acting_agent
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.types import SessionKey, Side

router = APIRouter(prefix="/api/v1/agent/sessions", tags=["desk"], route_class=GuardedRoute)

SessionId = Annotated[str, Path(max_length=64)]
# What SQL holds.
MAX_SEQ = 2**31 - 1
After = Annotated[int, Query(ge=0, le=MAX_SEQ, description="已收到的最后一个序号")]
LONGEST_SNOOZE = timedelta(days=30)
# Turns with the bot that a person sees.
SHOWN = 50


@router.get("")
async def list_desk_sessions(tenant: StaffTenant, wiring: Wiring, agent_id: str = "") -> SessionList:
    """Sessions that a person has; agent_id: only this person's."""
    found = await wiring.desk.sessions.list_assigned(tenant, agent_id)
    return SessionList(sessions=await wiring.desk.overview.describe_all(tenant, found, agent_id))


@router.get("/pending")
async def list_pending_sessions(
    tenant: StaffTenant,
    wiring: Wiring,
    agent_id: Annotated[str, Query(max_length=64, description="只列出这位客服的技能能接的")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> SessionList:
    """The queue: by priority, then by age."""
    found = await wiring.desk.sessions.list_waiting(tenant, limit)
    if agent_id:
        await wiring.desk.staff.mark_seen(tenant, agent_id)
        member = await wiring.desk.staff.get(tenant, agent_id)
        found = [session for session in found if member is None or member.can_take(session.skill, session.team)]
    return SessionList(sessions=await wiring.desk.overview.describe_all(tenant, found, agent_id))


@router.get("/recent")
async def list_recent_sessions(
    tenant: StaffTenant,
    wiring: Wiring,
    agent_id: Annotated[str, Query(min_length=1, max_length=64, description="哪位客服")],
    limit: Annotated[int, Query(ge=1, le=100)] = 10,
) -> SessionList:
    """Sessions that a person had within a week and has no more: ended, or handed on; the latest first."""
    found = await wiring.desk.sessions.list_recent(tenant, agent_id, limit)
    return SessionList(sessions=await wiring.desk.overview.describe_all(tenant, found, agent_id))


@router.get("/{session_id}", responses=list_failures(404))
async def read_desk_session(
    session_id: SessionId,
    tenant: StaffTenant,
    wiring: Wiring,
    agent_id: Annotated[str, Query(max_length=64, description="谁在看：未读数和别的开着它的客服按这位算")] = "",
) -> SessionDetail:
    """A session with its card, what was said before, and the messages."""
    session = await require(wiring, tenant, session_id)
    turns = await wiring.conversations.load_last_turns(tenant, session_id, SHOWN)
    messages = await wiring.desk.messages.load_after(session.key, 0, PAGE)
    history = await wiring.desk.sessions.load_history(session.key)
    return SessionDetail.build_from(
        await wiring.desk.overview.describe(session, agent_id),
        conversation=turns,
        history=history,
        notes=await wiring.desk.notes.list_notes(session.key),
        recent_messages=messages,
        viewers=await wiring.desk.reads.list_viewers(session.key, agent_id),
    )


@router.patch("/{session_id}", responses=list_failures(404, 409))
async def change_session(
    session_id: SessionId, body: SessionPatch, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SessionOut:
    """Makes a session more or less urgent, or puts it aside for a while."""
    key, service, by = SessionKey(tenant, session_id), wiring.desk.service, get_acting_agent(request, body.agent_id)
    session = await require(wiring, tenant, session_id)
    if body.priority is not None:
        session = await service.set_priority(key, body.priority)
    if "snoozed_until" in body.model_fields_set:
        if body.snoozed_until is not None and not now() < body.snoozed_until <= now() + LONGEST_SNOOZE:
            raise InvalidRequest("稍后处理要定在 30 天之内的将来。", code="bad_snooze")
        session = await service.snooze_session(key, body.snoozed_until, by)
    return await wiring.desk.overview.describe(session, by)


@router.put("/{session_id}/read", responses=list_failures(404))
async def mark_session_read(
    session_id: SessionId, body: ReadIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> ReadOut:
    """Keeps how far somebody has read, and that they have the session open; a mark never goes back."""
    key = SessionKey(tenant, session_id)
    get_acting_agent(request, body.agent_id)
    await wiring.desk.mark_read(key, body.agent_id, body.seq, viewing=body.viewing)
    unread = await wiring.desk.reads.count_unread(tenant, body.agent_id, [session_id])
    viewers = await wiring.desk.reads.list_viewers(key, body.agent_id)
    return ReadOut(unread=unread.get(session_id, 0), viewers=[ViewerOut.model_validate(one) for one in viewers])


@router.post("/{session_id}/accept", responses=list_failures(404, 409))
async def accept_session(
    session_id: SessionId, body: AcceptIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SessionOut:
    """Takes a waiting session; of those who try at once one wins, the others get 409."""
    by = require_agent(request, body.agent_id)
    session = await wiring.desk.service.accept_session(SessionKey(tenant, session_id), by)
    return await wiring.desk.overview.describe(session, by)


@router.get("/{session_id}/messages", responses=list_failures(404))
async def read_desk_messages(
    session_id: SessionId, tenant: StaffTenant, wiring: Wiring, after: After = 0
) -> MessageList:
    """What was said since a message."""
    session = await require(wiring, tenant, session_id)
    return await load_messages(wiring, session.key, after)


@router.post("/{session_id}/messages", status_code=201, responses=list_failures(404, 409))
async def send_desk_message(
    session_id: SessionId, body: MessageIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> DeskMessageOut:
    """Says something to the customer."""
    key, by = SessionKey(tenant, session_id), get_acting_agent(request, body.agent_id)
    return DeskMessageOut.model_validate(await send_staff_message(wiring, key, body, by))


@router.post("/{session_id}/notes", status_code=201, responses=list_failures(404, 409))
async def write_desk_note(
    session_id: SessionId, body: NoteIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> NoteOut:
    """Writes something down for colleagues; the customer never sees it."""
    key, by = SessionKey(tenant, session_id), require_agent(request, body.agent_id)
    return NoteOut.model_validate(await wiring.desk.service.add_note(key, body.content, by))


@router.post("/{session_id}/transfer", responses=list_failures(404, 409))
async def transfer_session(
    session_id: SessionId, body: TransferIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SessionOut:
    """Hands the session to a colleague, or back into the queue for a team or somebody with a skill."""
    key, by = SessionKey(tenant, session_id), get_acting_agent(request, body.by, for_others=True)
    moved = wiring.desk.service.transfer_session(
        key, by=by, to=body.agent_id, team=body.team, skill=body.skill, note=body.note
    )
    return await wiring.desk.overview.describe(await moved, by)


@router.post("/{session_id}/resolve", responses=list_failures(404, 409))
async def resolve_session(
    session_id: SessionId, body: ResolveIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SessionOut:
    """Ends the person's part; the bot answers the next message."""
    key, by = SessionKey(tenant, session_id), get_acting_agent(request, body.agent_id, for_others=True)
    session = await wiring.desk.service.resolve(key, by=by, note=body.note)
    return await wiring.desk.overview.describe(session, by)


@router.post("/{session_id}/close", responses=list_failures(404, 409))
async def close_session(
    session_id: SessionId, body: ResolveIn, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SessionOut:
    """Ends the session, also one that nobody accepted."""
    key, by = SessionKey(tenant, session_id), get_acting_agent(request, body.agent_id)
    session = await wiring.desk.service.close(key, Actor.STAFF, by=by, note=body.note)
    return await wiring.desk.overview.describe(session, by)


def require_agent(request: Request, named: str) -> str:
    """Returns who acts, as `get_acting_agent` does. Raises InvalidRequest if a request with a key names nobody."""
    if by := get_acting_agent(request, named):
        return by
    raise InvalidRequest("用密钥时请写明 agent_id。", code="agent_id_missing")


async def send_staff_message(wiring: Wiring, key: SessionKey, body: MessageIn, by: str) -> DeskMessage:
    """Sends a message of staff with its attachments. by: the person who sends it. Raises NotFound, Conflict."""
    used = await wiring.attachments.attach_to_message(key, body.attachments, Side.STAFF)
    attached = [one.build_brief() for one in used]
    say = wiring.desk.service.send_message
    return await say(key, body.content, by=by, client_id=body.id, attachments=attached)


async def require(wiring: Wiring, tenant: str, session_id: str) -> DeskSession:
    """Returns a session at the desk. Raises NotFound."""
    key = SessionKey(tenant, session_id)
    session = await wiring.desk.sessions.find(key)
    if session is None:
        raise build_not_found(key)
    return session


async def load_messages(wiring: Wiring, key: SessionKey, after: int) -> MessageList:
    """Loads the page of messages after number `after`."""
    found = await wiring.desk.messages.load_after(key, after)
    return MessageList(
        messages=[DeskMessageOut.model_validate(message) for message in found],
        last=found[-1].seq if found else after,
    )
