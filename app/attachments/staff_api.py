"""Pictures and files that staff send to customers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request

from app.attachments.api import FAILS, store_upload
from app.attachments.parts import Wiring
from app.attachments.schemas import AttachmentOut
from app.http.deps import StaffTenant
from app.http.forms import build_file_body
from app.http.routes import GuardedRoute
from app.types import SessionKey, Side

router = APIRouter(prefix="/api/v1/agent/sessions", tags=["desk"], route_class=GuardedRoute)


@router.post("/{session_id}/attachments", status_code=201, openapi_extra=build_file_body(), responses=FAILS)
async def upload_staff_attachment(
    session_id: Annotated[str, Path(max_length=64)], request: Request, tenant: StaffTenant, wiring: Wiring
) -> AttachmentOut:
    """Takes a picture or file of a member of staff; it is sent by naming its id in the next message."""
    return await store_upload(SessionKey(tenant, session_id), request, wiring, Side.STAFF)
