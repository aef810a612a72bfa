"""The parameters of retrieval: read, set, put back, with all that they were."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from app.http.deps import AdminTenant, StaffTenant, get_caller_name
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.tuner.parts import Wiring
from app.tuner.schemas import ParamsHistory, ParamsIn, ParamsOut, ParamsVersionOut, ResetIn, RevertIn

router = APIRouter(prefix="/api/v1/tuner", tags=["tuner"], route_class=GuardedRoute)

VersionNumber = Annotated[int, Path(ge=0, le=2**31, description="第几版；0 为最初的默认")]


@router.get("/params")
async def read_params(tenant: StaffTenant, wiring: Wiring) -> ParamsOut:
    """The parameters in force, with their defaults and ranges."""
    return ParamsOut.from_tuned_settings(await wiring.tuner.get_tuned_settings(tenant), wiring.settings)


@router.put("/params", responses=list_failures(400, 409))
async def write_params(body: ParamsIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ParamsOut:
    """Sets parameters; the next answer goes by them."""
    await wiring.tuner.set_values(
        tenant, body.values, by=get_caller_name(request), note=body.note, expected=body.version
    )
    return await read_params(tenant, wiring)


@router.post("/params/reset", responses=list_failures(400, 409))
async def reset_params(request: Request, tenant: AdminTenant, wiring: Wiring, body: ResetIn | None = None) -> ParamsOut:
    """Puts parameters back to the settings of the installation."""
    wanted = body or ResetIn()
    await wiring.tuner.reset_values(tenant, wanted.names, by=get_caller_name(request), note=wanted.note)
    return await read_params(tenant, wiring)


@router.get("/params/history")
async def list_params_history(
    tenant: StaffTenant, wiring: Wiring, limit: Annotated[int, Query(ge=1, le=200)] = 50, offset: Offset = 0
) -> ParamsHistory:
    """Every change: who, when, before and after."""
    versions, total = await wiring.tuner.list_versions(tenant, limit, offset)
    return ParamsHistory(items=list(map(ParamsVersionOut.from_params, versions)), total=total)


@router.post("/params/history/{version}/revert", responses=list_failures(400, 404, 409))
async def revert_params(
    version: VersionNumber, request: Request, tenant: AdminTenant, wiring: Wiring, body: RevertIn | None = None
) -> ParamsOut:
    """Puts all parameters back to what they were in a version; that is a version of its own."""
    note = body.note if body else ""
    await wiring.tuner.revert_to_version(tenant, version, by=get_caller_name(request), note=note)
    return await read_params(tenant, wiring)
