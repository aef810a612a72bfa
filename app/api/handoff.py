"""The customer's side of the human desk: ask for a person, wait, read, leave."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field

from app.api.chat_schemas import HandoffOut
from app.api.deps import TenantId, Wiring, caller_from
from app.api.desk import After, messages_after
from app.api.desk_schemas import MaybeAgentId, MessageList, handoff_out
from app.desk.types import Actor, SessionKey

router = APIRouter(prefix="/api/v1/conversations", tags=["会话"])

SessionId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_.:@-]{1,64}$")]


class HandoffIn(BaseModel):
    """Who asks, and for what."""

    skill: MaybeAgentId = ""
    user_id: MaybeAgentId = ""
    channel: MaybeAgentId = ""
    user_token: str = Field("", max_length=4096, description="用户身份：商家服务器签发的 JWT；也可放在 X-User-Token")


@router.get("/{session_id}/handoff")
async def handoff_state(session_id: SessionId, tenant: TenantId, wiring: Wiring) -> HandoffOut:
    """Whether a person has the session, the place in the queue and the expected wait."""
    session = await wiring.desk.sessions.find(SessionKey(tenant, session_id))
    return handoff_out(await wiring.desk.queue.state(session))


@router.post("/{session_id}/handoff")
async def ask_for_a_person(
    session_id: SessionId, body: HandoffIn, request: Request, tenant: TenantId, wiring: Wiring
) -> HandoffOut:
    """Asks for a person; whoever waits already keeps the place."""
    key = SessionKey(tenant, session_id)
    caller = caller_from(request, body.user_token, body.user_id)
    about = {"user_id": body.user_id or caller, "channel": body.channel[:32]}
    sender = request.state.sender
    session = await wiring.desk.service.request(key, skill=body.skill, caller=caller, sender=sender, **about)
    return handoff_out(await wiring.desk.queue.state(session))


@router.delete("/{session_id}/handoff")
async def leave_queue(session_id: SessionId, tenant: TenantId, wiring: Wiring) -> HandoffOut:
    """Back to the bot instead of waiting."""
    session = await wiring.desk.service.leave(SessionKey(tenant, session_id))
    return handoff_out(await wiring.desk.queue.state(session))


@router.post("/{session_id}/close")
async def close_conversation(session_id: SessionId, tenant: TenantId, wiring: Wiring) -> HandoffOut:
    """Ends the talk with a person; should the customer write again, the bot answers."""
    session = await wiring.desk.service.close(SessionKey(tenant, session_id), Actor.CUSTOMER)
    return handoff_out(await wiring.desk.queue.state(session))


@router.get("/{session_id}/messages")
async def messages(session_id: SessionId, tenant: TenantId, wiring: Wiring, after: After = 0) -> MessageList:
    """What was said between customer and staff since a message."""
    return await messages_after(wiring, SessionKey(tenant, session_id), after)
