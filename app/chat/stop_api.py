"""Stops an answer that is being written."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app.chat.parts import Wiring
from app.http.deps import TenantId, read_proof
from app.http.failures import list_failures
from app.http.fields import SessionId
from app.http.routes import GuardedRoute
from app.types import SessionKey

router = APIRouter(prefix="/api/v1/chat", tags=["chat"], route_class=GuardedRoute)


class StopOut(BaseModel):
    """What came of it."""

    stopped: bool = Field(description="是否有一个回答因此停下；没有正在写的回答时为 false")


@router.post("/{session_id}/stop", responses=list_failures(404))
async def stop_chat(session_id: SessionId, request: Request, tenant: TenantId, wiring: Wiring) -> StopOut:
    """Ends the answer of the session that is being written: its stream ends with `done`, `data.stopped` is true, and
    what was said so far is kept as the turn's reply.
    """
    key, proof = SessionKey(tenant, session_id), await read_proof(request)
    running = wiring.running_answers.find(key)
    if running is None or not running.is_opened_by(proof):
        await wiring.access.require(key, proof)
    return StopOut(stopped=running is not None and running.stop())
