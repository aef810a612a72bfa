"""What routes depend on. Every route says who may call it, by `TenantId`, `HolderTenant`, `StaffTenant`,
`CompanyTenant`, `BackendTenant`, `LeadTenant`, `AdminTenant`, `MetricsTenant` or `PUBLIC`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from app.auth.cookies import SIGN_IN, from_own_page, read_session_secret
from app.auth.identity import build_proof, is_inside
from app.auth.origins import require_origin
from app.auth.principal import STAFF, TALKING, Principal, Role
from app.auth.scopes import is_covered
from app.auth.sender import build_sender
from app.errors import Forbidden
from app.types import Proof, SessionKey

if TYPE_CHECKING:
    from app.http.parts import HttpParts

T = TypeVar("T")


class Allow(SecurityBase):
    """Lets callers with one of the roles through and gives their tenant. Raises Unauthorized, Forbidden, RateLimited,
    IdentityUnavailable.

    One dependency and not one upon another: each costs a chat request 25 µs.
    """

    model = HTTPBearer(description="密钥；也可以放在请求头 X-API-Key 里")
    scheme_name = "ApiKey"

    def __init__(self, *roles: Role, turns: bool = False) -> None:
        """turns: the requests are messages of customers, of which urgent ones are answered beyond all limits."""
        self.roles = frozenset(roles)
        self.turns = turns

    async def __call__(self, request: Request) -> str:
        """See `read_shown_key`."""
        known = request.scope.get("state", {}).get("principal")  # the route asked before it read the body
        principal: Principal = known or await self._authenticate_request(request)
        if principal.roles.isdisjoint(self.roles):
            raise Forbidden("这个密钥的角色没有权限调用该接口", required=sorted(self.roles))
        if principal.scopes:
            _require_scope(principal, request)
        return principal.tenant

    async def _authenticate_request(self, request: Request) -> Principal:
        """Returns the caller, counted for the limits once a request."""
        host, container = request.client.host if request.client else None, get_container(request)
        token = request.headers.get("x-user-token", "")
        principal = await container.authenticator.authenticate(read_shown_key(request), host, token)
        require_origin(principal, request.headers)
        request.state.tenant = principal.tenant
        count = container.limits.count_with_refusal if self.turns else container.limits.count_request
        session_id = request.path_params.get("session_id", "")
        request.state.sender = await count(principal.tenant, build_sender(principal, host), session_id)
        request.state.principal = principal
        return principal


class AllowHolder(Allow):
    """As `Allow`, for routes that take a session's id in their path: a session id opens nothing by itself."""

    async def __call__(self, request: Request) -> str:
        """See `build_proof`. Raises Unauthorized, Forbidden."""
        tenant = await super().__call__(request)
        state = request.scope["state"]
        if state.get("holds") or (is_inside(state["principal"]) and "x-user-token" not in request.headers):
            return tenant
        key = SessionKey(tenant, request.path_params["session_id"])
        await get_container(request).access.require(key, await read_proof(request))
        state["holds"] = True  # the route asks once more when it has read the body
        return tenant


def _require_scope(principal: Principal, request: Request) -> None:
    """Raises Forbidden for what no scope of the key covers."""
    route = request.scope["route"]
    if not is_covered(principal.scopes, route.tags, request.method, route.name):
        raise Forbidden("这个密钥的权限范围不包括该接口", code="scope_missing", scopes=sorted(principal.scopes))


async def read_proof(
    request: Request, session_id: str = "", *, user_token: str = "", user_id: str = "", session_token: str = ""
) -> Proof:
    """What is shown for a conversation, by requests that `Allow` let through. Raises Unauthorized for a user token that
    does not hold.

    Tokens come in the body, or as X-User-Token and X-Session-Token, that of a session also in the cookie of pages of
    this server. session_id: of the body, where the path has none.
    """
    container = get_container(request)
    session_token = session_token or request.headers.get("x-session-token", "")
    session_token = session_token or read_session_secret(
        request, session_id or request.path_params.get("session_id", "")
    )
    user_token = user_token or request.headers.get("x-user-token", "")
    async with container.attempts.check_secret(request.state.sender.address or None, user_token or None):
        return await build_proof(
            request.state.principal,
            container.user_tokens,
            user_token=user_token,
            user_id=user_id,
            session_token=session_token,
        )


def require_own_page(request: Request) -> None:
    """Cookies are for pages of this server. Raises Forbidden."""
    if not from_own_page(request.headers):
        raise Forbidden("只接受由本服务提供的网页发来的请求。", code="foreign_page")


async def allow_anyone() -> None:
    """Needs no key."""


async def changes_nothing() -> None:
    """Marks what is asked by POST, because it takes a body, and is no administrative action: it changes nothing."""


def get_container(request: Request) -> HttpParts:
    """Returns the wiring of this process, as far as HTTP needs it."""
    container: HttpParts = request.app.state.container
    return container


async def get_wiring(request: Request) -> Any:
    """Returns all of the wiring, as a dependency; a coroutine, because FastAPI runs plain functions in a thread."""
    return request.app.state.container


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the wiring as a dependency: what `app.wiring.container.Container` calls it."""

    name: str

    async def __call__(self, request: Request) -> Any:
        """The part, once a request needs it."""
        return getattr(request.app.state.container, self.name)


def use_part(name: str) -> Any:
    """Marks what a route is served by: `Annotated[TicketService, use_part("tickets")]`. A test holds every name and
    type against the container.
    """
    return Depends(Part(name))


def get_caller_name(request: Request) -> str:
    """Returns what people call the key of a request that `Allow` let through; empty if it has no name."""
    principal: Principal = request.state.principal
    return principal.name


def get_acting_agent(request: Request, named: str, *, for_others: bool = False) -> str:
    """Returns who acts at the desk: the person who is signed in, or the one whom a request with a key names.

    for_others: leads and administrators act whoever has the session, so their own name does not stand in for a missing
    one. Raises Forbidden for an account that names somebody else.
    """
    principal: Principal = request.state.principal
    own = principal.agent_id
    if not own:
        return named
    if named not in ("", own):
        raise Forbidden("登录的是您自己的账号，不能以别人的名义操作。", code="not_yourself", agent_id=own)
    return named if for_others and Role.AGENT not in principal.roles else own


def read_shown_key(request: Request) -> str | None:
    """Returns what a request shows: `Authorization: Bearer KEY`, `X-API-Key: KEY`, or the sign-in of a page of this
    server.
    """
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    return request.headers.get("x-api-key") or SIGN_IN.read_value(request) or None


# The caller's tenant, for every role but that of metrics.
TenantId = Annotated[str, Depends(Allow(*TALKING))]
# The same where the conversation of the path is the caller's, see `app.conversations.access`.
HolderTenant = Annotated[str, Depends(AllowHolder(*TALKING))]
# The same for messages of customers.
TurnTenant = Annotated[str, Depends(Allow(*TALKING, turns=True))]
StaffTenant = Annotated[str, Depends(Allow(*STAFF))]
# For staff, and for servers of the company: keys that nobody else sees.
CompanyTenant = Annotated[str, Depends(Allow(*STAFF, Role.SERVER))]
# For those who lead people who serve customers.
LeadTenant = Annotated[str, Depends(Allow(Role.ADMIN, Role.LEAD))]
# For servers of the company, which know who its customers are.
BackendTenant = Annotated[str, Depends(Allow(Role.ADMIN, Role.SERVER))]
AdminTenant = Annotated[str, Depends(Allow(Role.ADMIN))]
MetricsTenant = Annotated[str, Depends(Allow(Role.ADMIN, Role.METRICS))]
PUBLIC = Depends(allow_anyone)
CHANGES_NOTHING = Depends(changes_nothing)
# The wiring as a feature needs it: T is a protocol of its own, which `app.wiring.container.Container` fulfils.
Wired = Annotated[T, Depends(get_wiring)]
