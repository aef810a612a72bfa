"""Sessions ahead of their first turn, so that a browser has its token before it says anything, and after a reload."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field, StrictBool

from app.auth.cookies import from_own_page, keep_session, read_session
from app.auth.identity import is_inside
from app.auth.principal import Principal, Role
from app.conversations.access import Access
from app.db.base import now
from app.errors import Forbidden
from app.http.deps import Allow, read_proof, require_own_page, use_part
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.ids import create_id
from app.types import SessionKey
from knowledge.text import clean

AccessDep = Annotated[Access, use_part("access")]

router = APIRouter(prefix="/api/v1/sessions", tags=["conversations"], route_class=GuardedRoute)

BrowserTenant = Annotated[str, Depends(Allow(Role.ADMIN, Role.SERVER, Role.CLIENT))]


class SessionIn(RequestBody):
    """Whose session it is to be."""

    user_id: str = Field("", max_length=128, description="业务侧的用户编号；只有 server、admin 密钥带来的才作为身份")
    user_token: str = Field("", max_length=4096, description="用户身份：商家服务器签发的 JWT；也可放在 X-User-Token")
    channel: str = Field("", max_length=32, description="来源渠道")
    cookie: StrictBool = Field(
        False, description="凭据放进 HttpOnly Cookie，不在响应体里；只给由本服务提供的网页，新会话取代旧的"
    )


class SessionOpened(BaseModel):
    """A new session."""

    session_id: str
    session_token: str = Field(description="会话凭据，之后放在 X-Session-Token；放进 Cookie 时为空")
    expires_at: datetime = Field(description="凭据的失效时刻；使用会顺延")


class CurrentSession(BaseModel):
    """The session that the browser's cookie holds."""

    session_id: str | None = Field(description="会话编号；没有 Cookie，或其中的凭据不再有效时为 null")
    expires_at: datetime | None = Field(description="凭据的失效时刻；使用会顺延")


@router.post("", status_code=201)
async def open_session(
    body: SessionIn, request: Request, response: Response, tenant: BrowserTenant, access: AccessDep
) -> SessionOpened:
    """Opens a session: for a company's server, which hands the token to its page, or for a page that the key is for."""
    _require_page(request)
    if body.cookie:
        require_own_page(request)
    user_id = clean(body.user_id)
    proof = await read_proof(request, user_token=body.user_token, user_id=user_id)
    key = SessionKey(tenant, create_id())
    opened = await access.open(key, proof, user_id=user_id, channel=clean(body.channel))
    if body.cookie:
        keep_session(response, request, opened.session_id, opened.token, _count_seconds_left(opened.expires))
    token = "" if body.cookie else opened.token
    return SessionOpened(session_id=opened.session_id, session_token=token, expires_at=opened.expires)


@router.get("")
async def read_current_session(
    request: Request, response: Response, tenant: BrowserTenant, access: AccessDep
) -> CurrentSession:
    """Which session the page goes on with after it was loaded again."""
    session_id, token = read_session(request)
    expires = await access.extend_secret(SessionKey(tenant, session_id), token) if token else None
    if expires is None:
        return CurrentSession(session_id=None, expires_at=None)
    keep_session(response, request, session_id, token, _count_seconds_left(expires))
    return CurrentSession(session_id=session_id, expires_at=expires)


def _count_seconds_left(expires: datetime) -> int:
    return max(int((expires - now()).total_seconds()), 1)


def _require_page(request: Request) -> None:
    """Requires that a key which may be in anybody's browser opens sessions from its own pages alone. Raises
    Forbidden.
    """
    principal: Principal = request.state.principal
    if is_inside(principal) or from_own_page(request.headers):
        return
    if request.headers.get("origin") not in principal.origins:
        raise Forbidden(
            "client 密钥只能从它允许的网页打开会话，请用 keys.py 的 --origin 指定", code="origin_not_allowed"
        )
