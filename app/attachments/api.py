"""Pictures and files of conversations: uploaded before the message that they go with, and served so that a browser
neither runs nor guesses anything.
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response

from app.attachments.parts import Wiring
from app.attachments.schemas import AttachmentOut, AttachmentTextOut
from app.attachments.types import TextState
from app.errors import NotFound
from app.http.deps import CompanyTenant, HolderTenant, StaffTenant
from app.http.failures import Responses, list_failures
from app.http.fields import SessionId
from app.http.forms import build_file_body, read_sent_upload
from app.http.routes import GuardedRoute
from app.types import SessionKey, Side
from knowledge.file_inspection import FILE_TYPES, PICTURES

router = APIRouter(prefix="/api/v1/conversations", tags=["conversations"], route_class=GuardedRoute)

AttachmentKey = Annotated[str, Path(pattern=r"^[0-9a-f]{32}$")]
# A browser runs nothing in the content and loads nothing for it. Other sites may show it to users with access.
HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "private, max-age=3600, immutable",
    "Referrer-Policy": "no-referrer",
}
_FILE: Responses = {
    200: {
        "description": "图片或文件的内容",
        "content": {
            kind: {"schema": {"type": "string", "format": "binary"}, "example": "照片的内容"}
            for kind in (*FILE_TYPES, *PICTURES)
        },
    }
}
FAILS = list_failures(404, 409, 413, 415, 422)


@router.post("/{session_id}/attachments", status_code=201, openapi_extra=build_file_body(), responses=FAILS)
async def upload_attachment(
    session_id: SessionId, request: Request, tenant: HolderTenant, wiring: Wiring
) -> AttachmentOut:
    """Takes a picture or file of the customer; it is sent by naming its id in the next message."""
    return await store_upload(SessionKey(tenant, session_id), request, wiring, Side.CUSTOMER)


@router.get("/{session_id}/attachments/{attachment_id}", response_class=Response, responses=_FILE | list_failures(404))
async def read_attachment(
    session_id: SessionId,
    attachment_id: AttachmentKey,
    tenant: HolderTenant,
    wiring: Wiring,
    download: Annotated[bool, Query(description="图片也作为下载给出")] = False,
) -> Response:
    """The bytes: a picture to be shown, everything else to be saved."""
    found, content = await wiring.attachments.read_file(SessionKey(tenant, session_id), attachment_id)
    kind = "inline" if found.is_picture and not download else "attachment"
    headers = HEADERS | {"Content-Disposition": f"{kind}; filename*=UTF-8''{quote(found.name, safe='')}"}
    return Response(content, media_type=found.media_type, headers=headers)


@router.get("/{session_id}/attachments/{attachment_id}/text", responses=list_failures(404))
async def read_attachment_text(
    session_id: SessionId, attachment_id: AttachmentKey, tenant: CompanyTenant, wiring: Wiring
) -> AttachmentTextOut:
    """What is written in a picture, for staff."""
    found = await wiring.attachments.require_attachment(SessionKey(tenant, session_id), attachment_id)
    text = await wiring.attachments.read_picture_text(found)
    state = found.text_state if found.text_state is not TextState.UNREAD or text else TextState.NONE
    return AttachmentTextOut.from_text(found.id, text, state)


@router.delete("/{session_id}/attachments/{attachment_id}", status_code=204, responses=list_failures(404))
async def delete_attachment(
    session_id: SessionId, attachment_id: AttachmentKey, tenant: StaffTenant, wiring: Wiring
) -> Response:
    """Deletes one for good, as an identity card that nobody should have sent; the message stays."""
    await wiring.attachments.delete_attachment(SessionKey(tenant, session_id), attachment_id)
    return Response(status_code=204)


async def store_upload(key: SessionKey, request: Request, wiring: Wiring, sender: Side) -> AttachmentOut:
    """Stores the one file of a form for an existing conversation.

    Args:
        key: The conversation.
        request: The upload, a form with one file.
        wiring: The services.
        sender: Whether the customer or staff sent it.

    Returns:
        The stored attachment.

    Raises:
        NotFound: There is no such conversation.
        AppError: See `AttachmentService.store_file`.
    """
    if await wiring.holders.find(key) is None:
        raise NotFound("没有找到这个会话。", code="conversation_not_found", session_id=key.session_id)
    name, content = await read_sent_upload(request)
    return AttachmentOut.from_attachment(await wiring.attachments.store_file(key, name, content, sender))
