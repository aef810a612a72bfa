"""Staff who sign in on a page of this server, with an account or a key. A cookie keeps a secret that the server can
end, and that no script reads.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, SecretStr

from app.auth.claims import MAX_TOKEN_CHARS
from app.auth.cookies import SIGN_IN
from app.auth.principal import DEFAULT_TENANT, LOOPBACK, STAFF, Principal, Role
from app.errors import Conflict, Forbidden, Unauthorized
from app.http.deps import PUBLIC, read_shown_key, require_own_page
from app.http.failures import list_failures
from app.http.routes import GuardedRoute
from app.http.schemas import RequestBody
from app.keys.service import hash_key
from app.people.parts import Wiring
from app.people.passwords import MAX_CHARS, MIN_CHARS
from app.people.person import Person
from app.people.signins import check_tenant

router = APIRouter(prefix="/api/v1/signin", tags=["signin"], dependencies=[PUBLIC], route_class=GuardedRoute)

MAX_KEY_CHARS = 512
Secret = Annotated[SecretStr, Field(min_length=1, max_length=MAX_CHARS)]
NewPassword = Annotated[SecretStr, Field(min_length=MIN_CHARS, max_length=MAX_CHARS, description="不含账号名")]
Tenant = Annotated[str, Field(max_length=64, description="账号所在的租户")]


class KeySignIn(RequestBody):
    """The key of a member of staff."""

    key: SecretStr = Field(min_length=1, max_length=MAX_KEY_CHARS, description="admin、lead 或 agent 密钥")


class PasswordSignIn(RequestBody):
    """An account with its password."""

    login: str = Field(min_length=1, max_length=64, description="账号名，不分大小写")
    password: Secret
    tenant: Tenant = DEFAULT_TENANT


class TokenSignIn(RequestBody):
    """A token of the identity provider whose number an account names."""

    id_token: SecretStr = Field(min_length=1, max_length=MAX_TOKEN_CHARS, description="身份提供方签发的令牌")
    tenant: Tenant = DEFAULT_TENANT


class InvitationIn(RequestBody):
    """A password for the account that an invitation is for."""

    invitation: SecretStr = Field(min_length=1, max_length=128, description="链接里的一次性令牌")
    password: NewPassword


class PasswordIn(RequestBody):
    """Another password for one's own account."""

    current: Secret = Field(description="原来的密码")
    password: NewPassword


class SignedIn(BaseModel):
    """Who is signed in."""

    signed_in: bool
    keyless: bool = Field(description="没有配置任何密钥，本机无需登录")
    roles: list[Role]
    tenant: str
    key_id: str = Field(description="密钥或账号的编号；无需密钥时为空")
    key_name: str = Field(description="创建密钥时起的名字，或账号的姓名")
    agent_id: str = Field(description="账号名，也是服务台上的 agent_id；用密钥登录的为空")
    by_provider: bool = Field(description="能不能用企业账号登录")


@router.get("", responses=list_failures(429))
async def read_sign_in(request: Request, response: Response, wiring: Wiring) -> SignedIn:
    """Who is signed in on this browser; nobody is no error."""
    try:
        return _build_signed_in(
            await wiring.authenticator.authenticate(read_shown_key(request), _get_host(request)), wiring
        )
    except Unauthorized:
        if SIGN_IN.read_value(request):
            SIGN_IN.drop(response, request)
        return _build_signed_in(None, wiring)


@router.post("", responses=list_failures(401, 429))
async def sign_in(
    body: KeySignIn | PasswordSignIn | TokenSignIn, request: Request, response: Response, wiring: Wiring
) -> SignedIn:
    """Signs in until the browser is closed, nothing was done for SIGN_IN_IDLE_HOURS, or the key or account ends."""
    require_own_page(request)
    before = SIGN_IN.read_value(request)
    if isinstance(body, KeySignIn):
        key = body.key.get_secret_value()
        principal = await wiring.keys.authenticate(key, _get_host(request))
        if principal.roles.isdisjoint(STAFF):
            raise Forbidden("只有 admin、lead 与 agent 密钥可以登录网页。", code="not_staff")
        if principal.key:
            secret = await wiring.sign_ins.open_for_key(principal, hash_key(key), before)
            SIGN_IN.keep(response, request, secret)
        return _build_signed_in(principal, wiring)
    tenant = check_tenant(body.tenant)
    if isinstance(body, PasswordSignIn):
        password = body.password.get_secret_value()
        person = await wiring.sign_ins.check_password(tenant, body.login, password, _get_host(request))
    else:
        async with wiring.attempts.check_secret(_get_host(request), "token"):
            person = await wiring.sign_ins.check_token(tenant, body.id_token.get_secret_value())
    SIGN_IN.keep(response, request, await wiring.sign_ins.open_for(person, before))
    return _build_signed_in(person.principal, wiring)


@router.delete("", status_code=204)
async def sign_out(request: Request, wiring: Wiring) -> Response:
    """Ends the sign-in of this browser, here and on the server."""
    require_own_page(request)
    if secret := SIGN_IN.read_value(request):
        await wiring.sign_ins.end(secret)
    response = Response(status_code=204)
    SIGN_IN.drop(response, request)
    return response


@router.delete("/everywhere", status_code=204, responses=list_failures(401, 409))
async def sign_out_everywhere(request: Request, wiring: Wiring) -> Response:
    """Ends all sign-ins of one's own account."""
    await wiring.sign_ins.end_all(await _get_person(request, wiring))
    response = Response(status_code=204)
    SIGN_IN.drop(response, request)
    return response


@router.put("/password", status_code=204, responses=list_failures(401, 409, 429))
async def change_password(body: PasswordIn, request: Request, wiring: Wiring) -> Response:
    """Changes one's own password, and signs out everywhere but here."""
    person = await _get_person(request, wiring)
    given = body.current.get_secret_value(), body.password.get_secret_value()
    secret = await wiring.sign_ins.change_password(person, *given, _get_host(request))
    response = Response(status_code=204)
    SIGN_IN.keep(response, request, secret)
    return response


@router.post("/invitation", responses=list_failures(401, 429))
async def accept_invitation(body: InvitationIn, request: Request, response: Response, wiring: Wiring) -> SignedIn:
    """Chooses a password by a link that works once, and signs in."""
    require_own_page(request)
    invitation, password = body.invitation.get_secret_value(), body.password.get_secret_value()
    async with wiring.attempts.check_secret(_get_host(request), invitation):
        person, secret = await wiring.sign_ins.accept_invitation(invitation, password, SIGN_IN.read_value(request))
    SIGN_IN.keep(response, request, secret)
    return _build_signed_in(person.principal, wiring)


async def _get_person(request: Request, wiring: Wiring) -> Person:
    """Returns the person who is signed in on this browser. Raises Unauthorized, and Conflict for a key."""
    require_own_page(request)
    found = await wiring.sign_ins.find(SIGN_IN.read_value(request))
    if found is None:
        raise Unauthorized("登录已经失效，请重新登录")
    if found.person is None:
        raise Conflict("您是用密钥登录的，没有自己的账号。", code="no_account")
    return found.person


def _get_host(request: Request) -> str | None:
    return request.client.host if request.client else None


def _build_signed_in(principal: Principal | None, wiring: Wiring) -> SignedIn:
    """principal: None for nobody."""
    who = principal or Principal("", frozenset())
    return SignedIn(
        signed_in=principal is not None,
        keyless=principal == LOOPBACK,
        roles=sorted(who.roles),
        tenant=who.tenant,
        key_id=who.key,
        key_name=who.name,
        agent_id=who.agent_id,
        by_provider=wiring.sign_ins.by_provider,
    )
