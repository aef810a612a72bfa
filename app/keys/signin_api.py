"""Staff who sign in on a page of this server: the key goes into a cookie that no script reads."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from app.auth.cookies import KEY
from app.auth.principal import LOOPBACK, Principal, Role
from app.errors import Forbidden, Unauthorized
from app.http.deps import PUBLIC, Wiring, require_own_page, shown_key
from app.http.failures import fails
from app.http.routes import GuardedRoute

router = APIRouter(prefix="/api/v1/signin", tags=["signin"], dependencies=[PUBLIC], route_class=GuardedRoute)

STAFF = frozenset({Role.ADMIN, Role.AGENT})
MAX_KEY_CHARS = 512


class SignInIn(BaseModel):
    """The key of a member of staff."""

    model_config = ConfigDict(extra="forbid")

    key: SecretStr = Field(min_length=1, max_length=MAX_KEY_CHARS, description="admin 或 agent 密钥")


class SignedIn(BaseModel):
    """Who is signed in."""

    signed_in: bool
    keyless: bool = Field(description="没有配置任何密钥，本机无需登录")
    roles: list[Role]
    tenant: str
    key_id: str = Field(description="密钥编号；无需密钥时为空")
    key_name: str = Field(description="创建密钥时起的名字")


@router.get("", responses=fails(429))
async def read_sign_in(request: Request, response: Response, wiring: Wiring) -> SignedIn:
    """Who is signed in on this browser; nobody is no error."""
    try:
        return _signed_in(await wiring.keys.authenticate(shown_key(request), _host(request)))
    except Unauthorized:
        if KEY.shown(request):
            KEY.drop(response, request)
        return SignedIn(signed_in=False, keyless=False, roles=[], tenant="", key_id="", key_name="")


@router.post("", responses=fails(401, 429))
async def sign_in(body: SignInIn, request: Request, response: Response, wiring: Wiring) -> SignedIn:
    """Signs in until the browser is closed, or the key is revoked."""
    require_own_page(request)
    key = body.key.get_secret_value()
    principal = await wiring.keys.authenticate(key, _host(request))
    if principal.roles.isdisjoint(STAFF):
        raise Forbidden("只有 admin 与 agent 密钥可以登录网页。", code="not_staff")
    if principal.key:
        KEY.keep(response, request, key)
    return _signed_in(principal)


@router.delete("", status_code=204)
async def sign_out(request: Request) -> Response:
    """Has the browser forget the key, which stays valid."""
    require_own_page(request)
    response = Response(status_code=204)
    KEY.drop(response, request)
    return response


def _host(request: Request) -> str | None:
    return request.client.host if request.client else None


def _signed_in(principal: Principal) -> SignedIn:
    return SignedIn(
        signed_in=True,
        keyless=principal == LOOPBACK,
        roles=sorted(principal.roles),
        tenant=principal.tenant,
        key_id=principal.key,
        key_name=principal.name,
    )
