"""Experiments: begin, look, end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Request

from app.http.deps import AdminTenant, StaffTenant, Wiring, caller_name
from app.http.failures import fails
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.tuner.experiment_schemas import EndIn, ExperimentIn, ExperimentOut, ExperimentPage
from app.tuner.experiments import NewExperiment
from app.tuner.repository_experiments import Experiment

if TYPE_CHECKING:
    from app.wiring.container import Container

router = APIRouter(prefix="/api/v1/tuner/experiments", tags=["tuner"], route_class=GuardedRoute)

ExperimentId = Annotated[str, Path(max_length=32)]


@router.post("", status_code=201, responses=fails(400, 409))
async def begin_experiment(body: ExperimentIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ExperimentOut:
    """From the next turn on some customers are answered by other parameters; a tenant has one experiment at a time."""
    wanted = NewExperiment(body.name, body.unit, body.share, body.needed, body.values, caller_name(request))
    return await _told(tenant, wiring, await wiring.experiments.begin(tenant, wanted))


@router.get("")
async def list_experiments(
    tenant: StaffTenant, wiring: Wiring, limit: Annotated[int, Query(ge=1, le=50)] = 10, offset: Offset = 0
) -> ExperimentPage:
    """Experiments with what they came to."""
    found, total = await wiring.experiments.page(tenant, limit, offset)
    return ExperimentPage(items=[await _told(tenant, wiring, one) for one in found], total=total)


@router.get("/{experiment_id}", responses=fails(404))
async def read_experiment(experiment_id: ExperimentId, tenant: StaffTenant, wiring: Wiring) -> ExperimentOut:
    """One experiment."""
    return await _told(tenant, wiring, await wiring.experiments.find(tenant, experiment_id))


@router.post("/{experiment_id}/end", responses=fails(400, 404, 409))
async def end_experiment(
    experiment_id: ExperimentId, request: Request, tenant: AdminTenant, wiring: Wiring, body: EndIn | None = None
) -> ExperimentOut:
    """Ends it; the parameters that were tried are adopted only if asked for."""
    wanted = body or EndIn()
    over = await wiring.experiments.end(
        tenant, experiment_id, adopt=wanted.adopt, by=caller_name(request), note=wanted.note
    )
    return await _told(tenant, wiring, over)


async def _told(tenant: str, wiring: Container, experiment: Experiment) -> ExperimentOut:
    return ExperimentOut.of(experiment, await wiring.experiments.result(tenant, experiment))
