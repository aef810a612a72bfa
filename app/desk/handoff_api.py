"""The customer's side of the human desk: ask for a person, wait, read, leave."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app.desk.api import After, load_messages
from app.desk.parts import Wiring
from app.desk.schemas import HandoffOut, MaybeAgentId, MessageList
from app.desk.types import Actor
from app.http.deps import HolderTenant, TenantId, read_proof
from app.http.failures import list_failures
from app.http.fields import MAX_TOKEN_CHARS, SessionId
from app.http.routes import GuardedRoute
from app.types import SessionKey

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)


class HandoffIn(BaseModel):
    """Who asks, and for what."""

    skill: MaybeAgentId = ""
    user_id: MaybeAgentId = ""
    channel: MaybeAgentId = ""
    user_token: str = Field("", max_length=4096, description="用户身份：商家服务器签发的 JWT；也可放在 X-User-Token")
    session_token: str = Field(
        "", max_length=MAX_TOKEN_CHARS, description="会话凭据，首次响应中返回；也可放在 X-Session-Token"
    )


class HandoffStarted(HandoffOut):
    """Where the session stands."""

    session_token: str = Field("", description="会话凭据：会话由此开始、或成为会员的会话时签发，其余为空")


@router.get("/{session_id}/handoff")
async def read_handoff(session_id: SessionId, tenant: HolderTenant, wiring: Wiring) -> HandoffOut:
    """Whether a person has the session, the place in the queue and the expected wait."""
    session = await wiring.desk.sessions.find(SessionKey(tenant, session_id))
    return HandoffOut.model_validate(await wiring.desk.queue.get_state(session))


@router.post("/{session_id}/handoff", responses=list_failures(409))
async def request_handoff(
    session_id: SessionId, body: HandoffIn, request: Request, tenant: TenantId, wiring: Wiring
) -> HandoffStarted:
    """Asks for a person; whoever waits already keeps the place."""
    key = SessionKey(tenant, session_id)
    tokens = {"user_token": body.user_token, "session_token": body.session_token}
    proof = await read_proof(request, user_id=body.user_id, **tokens)
    claim = await wiring.access.claim(key, proof)
    about = {"user_id": proof.caller or body.user_id, "channel": body.channel[:32]}
    session = await wiring.desk.service.request_person(
        key, skill=body.skill, claim=claim, sender=request.state.sender, **about
    )
    queue = await wiring.desk.queue.get_state(session)
    return HandoffStarted(**queue.build_body(), session_token=claim.issued)


@router.delete("/{session_id}/handoff", responses=list_failures(409))
async def leave_handoff(session_id: SessionId, tenant: HolderTenant, wiring: Wiring) -> HandoffOut:
    """Back to the bot instead of waiting."""
    session = await wiring.desk.service.leave_queue(SessionKey(tenant, session_id))
    return HandoffOut.model_validate(await wiring.desk.queue.get_state(session))


@router.post("/{session_id}/close", responses=list_failures(409))
async def close_conversation(session_id: SessionId, tenant: HolderTenant, wiring: Wiring) -> HandoffOut:
    """Ends the talk with a person; should the customer write again, the bot answers."""
    session = await wiring.desk.service.close(SessionKey(tenant, session_id), Actor.CUSTOMER)
    return HandoffOut.model_validate(await wiring.desk.queue.get_state(session))


@router.get("/{session_id}/messages")
async def read_handoff_messages(
    session_id: SessionId, tenant: HolderTenant, wiring: Wiring, after: After = 0
) -> MessageList:
    """What was said between customer and staff since a message."""
    return await load_messages(wiring, SessionKey(tenant, session_id), after)
