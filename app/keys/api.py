"""Keys of the caller's tenant: listed, made, changed, revoked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from fastapi import APIRouter, Path, Query, Request, Response

from app.auth.principal import Role
from app.http.deps import AdminTenant, Wired
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.keys.repository import KeyFilter, KeyState
from app.keys.schemas import KeyCreated, KeyIn, KeyOut, KeyPage, KeyPatch, KeyRotation
from app.search.filter_requests import FilterIn
from knowledge.filters import EVERYTHING, Filter

if TYPE_CHECKING:
    from app.keys.management import KeyManagement
    from app.search.filter_requests import FilterRequests


class Parts(Protocol):
    """What these routes are served by."""

    filters: FilterRequests
    key_management: KeyManagement


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/keys", tags=["keys"], route_class=GuardedRoute)

KeyId = Annotated[str, Path(max_length=32)]

KeySort = Literal["name", "-name", "role", "-role", "-created", "created", "-used", "used", "ends", "-ends"]


@router.get("")
async def list_keys(
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="名称或编号里的字")] = "",
    role: Role | None = None,
    state: Annotated[KeyState | None, Query(description="只列有效的、已到期的或已停用的")] = None,
    sort: Annotated[KeySort | None, Query(description="按什么排；前面加 - 为从大到小。不给则有效的、新的在前")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> KeyPage:
    """The tenant's keys, without the keys themselves."""
    keys = wiring.key_management.repository
    rows, total = await keys.load_page(tenant, KeyFilter(q, role, state), limit, offset, sort or "")
    own = request.state.principal.key
    return KeyPage(
        items=[KeyOut.from_row(row, own) for row in rows],
        total=total,
        offset=offset,
        limit=limit,
        environment_key=wiring.key_management.has_environment_key(tenant),
    )


@router.post("", status_code=201, responses=list_failures(404, 409))
async def create_key(body: KeyIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> KeyCreated:
    """Makes a key, which is returned this once."""
    bound_to = await _check_filter(wiring, tenant, body.filter)
    given = body.role, body.name, body.origins, body.expires_at, body.scopes, bound_to
    row, secret = await wiring.key_management.create(tenant, *given)
    return KeyCreated.build_from(KeyOut.from_row(row, request.state.principal.key), key=secret)


@router.patch("/{key_id}", responses=list_failures(404, 409))
async def change_key(key_id: KeyId, body: KeyPatch, request: Request, tenant: AdminTenant, wiring: Wiring) -> KeyOut:
    """Changes name, origins, end or documents of a key that was not revoked."""
    given = body.model_dump(exclude_unset=True, exclude={"filter"})
    if "filter" in body.model_fields_set:
        given["bound_to"] = await _check_filter(wiring, tenant, body.filter)
    row = await wiring.key_management.change_key(tenant, key_id, given)
    return KeyOut.from_row(row, request.state.principal.key)


@router.post("/{key_id}/rotate", responses=list_failures(404))
async def rotate_key(
    key_id: KeyId, body: KeyRotation, request: Request, tenant: AdminTenant, wiring: Wiring
) -> KeyCreated:
    """Gives a valid key another secret, which is returned this once; the one before works on for a while."""
    row, secret = await wiring.key_management.rotate_key(tenant, key_id, body.grace)
    return KeyCreated.build_from(KeyOut.from_row(row, request.state.principal.key), key=secret)


@router.delete("/{key_id}", status_code=204, responses=list_failures(404, 409))
async def revoke_key(key_id: KeyId, request: Request, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Ends a key for good; not the one that is shown."""
    await wiring.key_management.revoke_key(tenant, key_id, request.state.principal.key)
    return Response(status_code=204)


async def _check_filter(wiring: Wiring, tenant: str, asked: FilterIn | None) -> Filter:
    """Raises NotFound."""
    where: Filter = await wiring.filters.require(tenant, asked.filter() if asked else EVERYTHING)
    return where
