"""Sessions ahead of their first turn, so that a browser has its token before it says anything."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from app.auth.identity import stays_inside
from app.auth.principal import Principal, Role
from app.errors import Forbidden
from app.http.deps import Allow, Wiring, proof_from
from app.http.routes import GuardedRoute
from app.ids import new_id
from app.types import SessionKey
from knowledge.text import clean

router = APIRouter(prefix="/api/v1/sessions", tags=["conversations"], route_class=GuardedRoute)

BrowserTenant = Annotated[str, Depends(Allow(Role.ADMIN, Role.SERVER, Role.CLIENT))]


class SessionIn(BaseModel):
    """Whose session it is to be."""

    model_config = ConfigDict(extra="forbid")

    user_id: str = Field("", max_length=128, description="业务侧的用户编号；只有 server、admin 密钥带来的才作为身份")
    user_token: str = Field("", max_length=4096, description="用户身份：商家服务器签发的 JWT；也可放在 X-User-Token")
    channel: str = Field("", max_length=32, description="来源渠道")


class SessionOpened(BaseModel):
    """A new session."""

    session_id: str
    session_token: str = Field(description="会话凭据，与首次响应中的相同；之后放在 X-Session-Token")
    expires_at: datetime = Field(description="凭据的失效时刻；使用会顺延")


@router.post("", status_code=201)
async def open_session(body: SessionIn, request: Request, tenant: BrowserTenant, wiring: Wiring) -> SessionOpened:
    """Opens a session: for a company's server, which hands the token to its page, or for a page that the key is for."""
    _require_page(request)
    user_id = clean(body.user_id)
    proof = proof_from(request, user_token=body.user_token, user_id=user_id)
    key = SessionKey(tenant, new_id())
    opened = await wiring.access.open(key, proof, user_id=user_id, channel=clean(body.channel))
    return SessionOpened(session_id=opened.session_id, session_token=opened.token, expires_at=opened.expires)


def _require_page(request: Request) -> None:
    """A key that may be in anybody's browser opens sessions from its own pages alone. Raises Forbidden."""
    principal: Principal = request.state.principal
    if not stays_inside(principal) and request.headers.get("origin") not in principal.origins:
        raise Forbidden(
            "client 密钥只能从它允许的网页打开会话，请用 keys.py 的 --origin 指定", code="origin_not_allowed"
        )
