"""The parameters of retrieval: read, set, put back, with all that they were; calibrations and sweeps, which recommend
others: begin, look, confirm.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from fastapi import APIRouter, Path, Query, Request, Response

from app.http.deps import CHANGES_NOTHING, AdminTenant, StaffTenant, Wired, get_caller_name
from app.http.failures import list_failures
from app.http.fields import Offset
from app.http.routes import GuardedRoute
from app.jobs.types import RunState
from app.tuner.effects import CALIBRATION, SWEEP, find_report_kind
from app.tuner.ranges import RANGES
from app.tuner.report_schemas import (
    MAX_QUESTIONS,
    ApplyIn,
    CalibrationIn,
    EstimateOut,
    JudgementIn,
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
from app.tuner.schemas import ParamsHistory, ParamsIn, ParamsOut, ParamsVersionOut, ResetIn, RevertIn
from app.tuner.types import TuningReport

if TYPE_CHECKING:
    from app.evaluation.service import EvaluationSets
    from app.jobs.service import JobService
    from app.settings import Settings
    from app.tuner.reports import Reports
    from app.tuner.service import Tuner


class Parts(Protocol):
    """What these routes are served by."""

    evaluation_sets: EvaluationSets
    jobs: JobService
    reports: Reports
    settings: Settings
    tuner: Tuner


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/tuner", tags=["tuner"], route_class=GuardedRoute)

ReportId = Annotated[str, Path(max_length=32)]
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


@router.post("/calibrations", status_code=202, responses=list_failures(400, 404, 409))
async def begin_calibration(body: CalibrationIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ReportOut:
    """Finds out where the gate should stand, in the background; nothing changes before it is applied."""
    new = NewReport(CALIBRATION, body.title, {"refusal": body.refusal}, get_caller_name(request))
    return await _begin_report(tenant, wiring, new, body)


@router.post("/sweeps", status_code=202, responses=list_failures(400, 404, 409))
async def begin_sweep(body: SweepIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ReportOut:
    """Tries weights, constants and widths, in the background; nothing changes before it is applied."""
    grid = {"alphas": body.alphas, "ks": body.ks, "widths": body.widths}
    return await _begin_report(tenant, wiring, NewReport(SWEEP, body.title, grid, get_caller_name(request)), body)


@router.post("/judgements/estimates", responses=list_failures(409, 502, 503), dependencies=[CHANGES_NOTHING])
async def estimate_judgement(body: JudgementIn, tenant: AdminTenant, wiring: Wiring) -> EstimateOut:
    """What it takes to have a model write questions and judge them, by two passages that are tried for it."""
    return EstimateOut.build_from(await wiring.reports.estimate_judging(tenant, body.passages))


@router.post("/judgements", status_code=202, responses=list_failures(400, 404, 409))
async def begin_judgement(body: JudgementIn, request: Request, tenant: AdminTenant, wiring: Wiring) -> ReportOut:
    """Has a model write questions about the base and judge them, in the background; nothing changes before it is
    applied.
    """
    new = NewReport(JUDGEMENT, body.title, {"passages": body.passages}, get_caller_name(request))
    return await _build_report(tenant, wiring, await wiring.reports.begin_report(tenant, new))


@router.get("/verdicts")
async def read_verdicts(tenant: StaffTenant, wiring: Wiring) -> VerdictsInForceOut:
    """A model's verdicts that the gate is calibrated by."""
    found = await wiring.reports.judging.verdicts.find(tenant)
    return VerdictsInForceOut(verdicts=VerdictsOut.build_from(found) if found else None)


@router.delete("/verdicts", status_code=204)
async def drop_verdicts(tenant: AdminTenant, wiring: Wiring) -> Response:
    """The gate is calibrated without them, if there are any."""
    await wiring.reports.judging.drop(tenant)
    return Response(status_code=204)


@router.get("/effects")
async def list_parameter_effects(tenant: StaffTenant, wiring: Wiring) -> ParameterMeasurements:
    """What the last calibration and the last sweep of this base gave for each parameter a step up and down."""
    found = await wiring.reports.find_effects(tenant)
    items = [
        ParameterMeasurementOut(name=name, measured_by=find_report_kind(name), effect=found.get(name))
        for name in RANGES
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
    found, total = await wiring.reports.load_page(tenant, kind, limit, offset)
    items = [await _build_report(tenant, wiring, replace(report, result=None)) for report in found]
    return ReportPage(items=items, total=total)


@router.get("/reports/{report_id}", responses=list_failures(404))
async def read_tuner_report(report_id: ReportId, tenant: StaffTenant, wiring: Wiring) -> ReportOut:
    """One of them, with what came of it."""
    shown = await _build_report(tenant, wiring, await wiring.reports.find_report(tenant, report_id))
    if shown.state is RunState.DONE and shown.result is None:  # it was finished between the two reads
        shown = await _build_report(tenant, wiring, await wiring.reports.find_report(tenant, report_id))
    return shown


@router.post("/reports/{report_id}/apply", responses=list_failures(400, 404, 409))
async def apply_tuner_report(
    report_id: ReportId, request: Request, tenant: AdminTenant, wiring: Wiring, body: ApplyIn | None = None
) -> ParamsOut:
    """Puts in force what it recommends."""
    await wiring.reports.apply_report(tenant, report_id, by=get_caller_name(request), note=body.note if body else "")
    return await read_params(tenant, wiring)


@router.delete("/reports/{report_id}", status_code=204, responses=list_failures(404))
async def delete_tuner_report(report_id: ReportId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes it with its questions."""
    await wiring.reports.delete_report(tenant, report_id)
    return Response(status_code=204)


async def _begin_report(tenant: str, wiring: Wiring, new: NewReport, body: QuestionsIn) -> ReportOut:
    if body.set:
        questions = await wiring.evaluation_sets.load_questions(tenant, body.set, MAX_QUESTIONS)
    else:
        questions = [one.labelled_question for one in body.questions]
    return await _build_report(tenant, wiring, await wiring.reports.begin_report(tenant, new, questions))


async def _build_report(tenant: str, wiring: Wiring, report: TuningReport) -> ReportOut:
    return ReportOut.from_report(report, await wiring.jobs.find_run(tenant, report.run_id) if report.run_id else None)
