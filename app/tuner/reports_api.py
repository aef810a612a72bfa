"""Calibrations and sweeps: begin, look, confirm."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response

from app.http.deps import CHANGES_NOTHING, AdminTenant, StaffTenant, Wiring, get_caller_name
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.jobs.types import RunState
from app.tuner.effects import CALIBRATION, SWEEP, measured_by
from app.tuner.report_schemas import (
    ApplyIn,
    CalibrationIn,
    EstimateOut,
    JudgementIn,
    ParameterEffectOut,
    ParameterMeasurementOut,
    ParameterMeasurements,
    QuestionsIn,
    ReportOut,
    ReportPage,
    SweepIn,
    VerdictsInForceOut,
    VerdictsOut,
)
from app.tuner.reports import JUDGEMENT, NewReport
from app.tuner.repository_reports import TuningReport
from app.tuner.schemas import ParamsOut
from app.tuner.types import NAMES

router = APIRouter(prefix="/api/v1/tuner", tags=["tuner"], route_class=GuardedRoute)

ReportId = Annotated[str, Path(max_length=32)]


@router.post("/calibrations", status_code=202, responses=list_failures(400, 404, 409))
async def begin_calibration(body: CalibrationIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ReportOut:
    """Finds out where the gate should stand, in the background; nothing changes before it is applied."""
    wish = NewReport(CALIBRATION, body.title, {"refusal": body.refusal}, get_caller_name(request))
    return await _begun(tenant, wiring, wish, body)


@router.post("/sweeps", status_code=202, responses=list_failures(400, 404, 409))
async def begin_sweep(body: SweepIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ReportOut:
    """Tries weights, constants and widths, in the background; nothing changes before it is applied."""
    grid = {"alphas": body.alphas, "ks": body.ks, "widths": body.widths}
    return await _begun(tenant, wiring, NewReport(SWEEP, body.title, grid, get_caller_name(request)), body)


@router.post("/judgements/estimates", responses=list_failures(409, 502, 503), dependencies=[CHANGES_NOTHING])
async def estimate_judgement(body: JudgementIn, tenant: AdminTenant, wiring: Wiring) -> EstimateOut:
    """What it takes to have a model write questions and judge them, by two passages that are tried for it."""
    return EstimateOut.model_validate(asdict(await wiring.reports.estimate(tenant, body.passages)))


@router.post("/judgements", status_code=202, responses=list_failures(400, 404, 409))
async def begin_judgement(body: JudgementIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ReportOut:
    """Has a model write questions about the base and judge them, in the background; nothing changes before it is
    applied.
    """
    wish = NewReport(JUDGEMENT, body.title, {"passages": body.passages}, get_caller_name(request))
    return await _told(tenant, wiring, await wiring.reports.begin(tenant, wish))


@router.get("/verdicts")
async def read_verdicts(tenant: StaffTenant, wiring: Wiring) -> VerdictsInForceOut:
    """A model's verdicts that the gate is calibrated by."""
    found = await wiring.reports.judging.verdicts.find(tenant)
    return VerdictsInForceOut(verdicts=VerdictsOut.model_validate(asdict(found)) if found else None)


@router.delete("/verdicts", status_code=204)
async def drop_verdicts(tenant: AdminTenant, wiring: Wiring) -> Response:
    """The gate is calibrated without them, if there are any."""
    await wiring.reports.judging.drop(tenant)
    return Response(status_code=204)


@router.get("/effects")
async def list_parameter_effects(tenant: StaffTenant, wiring: Wiring) -> ParameterMeasurements:
    """What the last calibration and the last sweep of this base gave for each parameter a step up and down."""
    found = await wiring.reports.effects(tenant)
    told = {name: ParameterEffectOut.model_validate(asdict(effect)) for name, effect in found.items()}
    items = [
        ParameterMeasurementOut.model_validate(
            {"name": name, "measured_by": measured_by(name), "effect": told.get(name)}
        )
        for name in NAMES
    ]
    return ParameterMeasurements(items=items)


@router.get("/reports")
async def list_tuner_reports(
    tenant: StaffTenant,
    wiring: Wiring,
    kind: Annotated[Literal["", "calibration", "sweep", "judgement"], Query(description="只列这一种")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Offset = 0,
) -> ReportPage:
    """Calibrations, sweeps and judgements."""
    found, total = await wiring.reports.page(tenant, kind, limit, offset)
    items = [await _told(tenant, wiring, replace(report, result=None)) for report in found]
    return ReportPage(items=items, total=total)


@router.get("/reports/{report_id}", responses=list_failures(404))
async def read_tuner_report(report_id: ReportId, tenant: StaffTenant, wiring: Wiring) -> ReportOut:
    """One of them, with what came of it."""
    told = await _told(tenant, wiring, await wiring.reports.find(tenant, report_id))
    if told.state is RunState.DONE and told.result is None:  # it was finished between the two reads
        told = await _told(tenant, wiring, await wiring.reports.find(tenant, report_id))
    return told


@router.post("/reports/{report_id}/apply", responses=list_failures(400, 404, 409))
async def apply_tuner_report(
    report_id: ReportId, request: Request, tenant: AdminTenant, wiring: Wiring, body: ApplyIn | None = None
) -> ParamsOut:
    """Puts in force what it recommends."""
    await wiring.reports.apply(tenant, report_id, by=get_caller_name(request), note=body.note if body else "")
    return ParamsOut.of(await wiring.tuner.of(tenant), wiring.settings)


@router.delete("/reports/{report_id}", status_code=204, responses=list_failures(404))
async def delete_tuner_report(report_id: ReportId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes it with its questions."""
    await wiring.reports.drop(tenant, report_id)
    return Response(status_code=204)


async def _begun(tenant: str, wiring: Any, wish: NewReport, body: QuestionsIn) -> ReportOut:
    if body.set:
        questions = await wiring.labelled_sets.questions(tenant, body.set)
    else:
        questions = [one.labelled for one in body.questions]
    return await _told(tenant, wiring, await wiring.reports.begin(tenant, wish, questions))


async def _told(tenant: str, wiring: Wiring, report: TuningReport) -> ReportOut:
    return ReportOut.of(report, await wiring.jobs.run(tenant, report.run_id) if report.run_id else None)
