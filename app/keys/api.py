"""Keys of the caller's tenant: listed, made, changed, revoked."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from app.auth.principal import Role
from app.http.deps import AdminTenant, Wiring
from app.http.failures import fails
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.keys.repository import KeyFilter
from app.keys.schemas import KeyCreated, KeyIn, KeyOut, KeyPage, KeyPatch

router = APIRouter(prefix="/api/v1/keys", tags=["keys"], route_class=GuardedRoute)

KeyId = Annotated[str, Path(max_length=32)]


@router.get("")
async def list_keys(
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="名称或编号里的字")] = "",
    role: Role | None = None,
    state: Annotated[Literal["valid", "revoked"] | None, Query(description="只列有效的或已停用的")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> KeyPage:
    """The tenant's keys, without the keys themselves."""
    wanted = KeyFilter(q, role, None if state is None else state == "valid")
    rows, total = await wiring.key_management.page(tenant, wanted, limit, offset)
    own = request.state.principal.key
    return KeyPage(
        items=[KeyOut.of(row, own) for row in rows],
        total=total,
        offset=offset,
        limit=limit,
        environment_key=wiring.key_management.by_environment(tenant),
    )


@router.post("", status_code=201, responses=fails(409))
async def create_key(body: KeyIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> KeyCreated:
    """Makes a key, which is returned this once."""
    row, secret = await wiring.key_management.create(tenant, body.role, body.name, body.origins)
    return KeyCreated(**KeyOut.of(row, request.state.principal.key).model_dump(), key=secret)


@router.patch("/{key_id}", responses=fails(404))
async def change_key(key_id: KeyId, body: KeyPatch, request: Request, tenant: AdminTenant, wiring: Wiring) -> KeyOut:
    """Changes the name or the origins of a valid key."""
    row = await wiring.key_management.change(tenant, key_id, body.name, body.origins)
    return KeyOut.of(row, request.state.principal.key)


@router.delete("/{key_id}", status_code=204, responses=fails(404, 409))
async def revoke_key(key_id: KeyId, request: Request, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Ends a key for good; not the one that is shown."""
    await wiring.key_management.revoke(tenant, key_id, request.state.principal.key)
    return Response(status_code=204)
