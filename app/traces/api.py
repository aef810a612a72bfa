"""How a turn was answered, for whoever wants to know why."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from app.errors import NotFound
from app.http.deps import StaffTenant, use_part
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.traces.repository import TraceRepository
from app.traces.schemas import TraceOut

TracesDep = Annotated[TraceRepository, use_part("traces")]

router = APIRouter(prefix="/api/v1/traces", tags=["traces"], route_class=GuardedRoute)


@router.get("/{trace_id}", responses=list_failures(404))
async def read_trace(
    trace_id: Annotated[str, Path(max_length=64, description="message_id，或请求的 trace_id（X-Request-ID）")],
    tenant: StaffTenant,
    traces: TracesDep,
) -> TraceOut:
    """What was searched, found, decided and spent for one reply."""
    found = await traces.find(tenant, trace_id)
    if found is None:
        raise NotFound("没有找到这一轮，会话可能已被删除。", code="trace_not_found", id=trace_id)
    return TraceOut.from_turn(found)
