"""Evaluation: sets and their cases, taken in and out as files; runs, which are cancelled as jobs are; reports."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from fastapi import APIRouter, Path, Query, Request, Response

from app.evaluation.judgement import TurnVerdict
from app.evaluation.schemas import (
    EvaluationCaseIn,
    EvaluationCaseList,
    EvaluationCaseOut,
    EvaluationCasePage,
    EvaluationCasesIn,
    EvaluationImport,
    EvaluationReportOut,
    EvaluationReportPage,
    EvaluationRunIn,
    EvaluationSetIn,
    EvaluationSetList,
    EvaluationSetOut,
    ReportComparisonOut,
    TurnResultOut,
    TurnResultPage,
)
from app.evaluation.transfer import read_file, write_jsonl, write_table
from app.evaluation.types import CaseOrigin, NewCase
from app.http.deps import AdminTenant, StaffTenant, Wired
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.forms import build_file_body, read_sent_file
from app.http.routes import GuardedRoute
from app.http.sheets import build_sheet_reader
from app.spreadsheets import CSV, XLSX

if TYPE_CHECKING:
    from app.evaluation.runs import EvaluationRuns
    from app.evaluation.service import EvaluationSets
    from knowledge.ingest import DocumentReader


class Parts(Protocol):
    """What these routes are served by."""

    document_reader: DocumentReader
    evaluation_runs: EvaluationRuns
    evaluation_sets: EvaluationSets


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/evaluation", tags=["evaluation"], route_class=GuardedRoute)

SetId = Annotated[str, Path(max_length=32)]
CaseId = Annotated[str, Path(max_length=32)]
ReportId = Annotated[str, Path(max_length=32)]
Limit = Annotated[int, Query(ge=1, le=200)]
JSONL = "application/jsonl"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FILE: Responses = {200: {"content": {JSONL: {"schema": {"type": "string"}}, CSV: {"schema": {"type": "string"}}}}}
_FILE[200]["content"][XLSX] = _BINARY


class FileFormat(StrEnum):
    """Of an export: JSONL keeps everything, tables are without the pages that customers look at."""

    JSONL = "jsonl"
    CSV = "csv"
    XLSX = "xlsx"


@router.get("/sets")
async def list_evaluation_sets(tenant: StaffTenant, wiring: Wiring) -> EvaluationSetList:
    """All sets, by their names."""
    return EvaluationSetList(sets=await wiring.evaluation_sets.list_all(tenant))


@router.post("/sets", status_code=201, responses=list_failures(409))
async def add_evaluation_set(body: EvaluationSetIn, tenant: AdminTenant, wiring: Wiring) -> EvaluationSetOut:
    """Makes an empty set."""
    return await wiring.evaluation_sets.add(tenant, body.name, body.description)


@router.get("/sets/{set_id}", responses=list_failures(404))
async def get_evaluation_set(set_id: SetId, tenant: StaffTenant, wiring: Wiring) -> EvaluationSetOut:
    """One set."""
    return await wiring.evaluation_sets.get(tenant, set_id)


@router.put("/sets/{set_id}", responses=list_failures(404, 409))
async def change_evaluation_set(
    set_id: SetId, body: EvaluationSetIn, tenant: AdminTenant, wiring: Wiring
) -> EvaluationSetOut:
    """Calls a set otherwise."""
    return await wiring.evaluation_sets.change_set(tenant, set_id, body.name, body.description)


@router.delete("/sets/{set_id}", status_code=204, responses=list_failures(404))
async def delete_evaluation_set(set_id: SetId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes a set with its cases; reports stay."""
    await wiring.evaluation_sets.delete_set(tenant, set_id)
    return Response(status_code=204)


@router.get("/sets/{set_id}/cases", responses=list_failures(404))
async def list_evaluation_cases(
    set_id: SetId,
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="第一句话或编号里的字")] = "",
    origin: Annotated[CaseOrigin | None, Query(description="只列来自这里的")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> EvaluationCasePage:
    """A page of the cases, in the order they came."""
    cases, total = await wiring.evaluation_sets.list_cases(
        tenant, set_id, text=q, origin=origin, limit=limit, offset=offset
    )
    return EvaluationCasePage(cases=list(map(EvaluationCaseOut.from_case, cases)), total=total)


@router.post("/sets/{set_id}/cases", responses=list_failures(404, 409))
async def put_evaluation_cases(
    set_id: SetId, body: EvaluationCasesIn, tenant: AdminTenant, wiring: Wiring
) -> EvaluationCaseList:
    """Puts cases into a set, each in the place of one of the same id."""
    taken = await wiring.evaluation_sets.put(tenant, set_id, [NewCase(case.dialogue) for case in body.cases])
    return EvaluationCaseList(cases=list(map(EvaluationCaseOut.from_case, taken)))


@router.put("/sets/{set_id}/cases/{case_id}", responses=list_failures(404))
async def change_evaluation_case(
    set_id: SetId, case_id: CaseId, body: EvaluationCaseIn, tenant: AdminTenant, wiring: Wiring
) -> EvaluationCaseOut:
    """Writes a case anew; it keeps its key."""
    return EvaluationCaseOut.from_case(await wiring.evaluation_sets.change_case(tenant, set_id, case_id, body.dialogue))


@router.delete("/sets/{set_id}/cases/{case_id}", status_code=204, responses=list_failures(404))
async def delete_evaluation_case(set_id: SetId, case_id: CaseId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Takes a case out."""
    await wiring.evaluation_sets.drop_case(tenant, set_id, case_id)
    return Response(status_code=204)


@router.post("/sets/{set_id}/import", openapi_extra=build_file_body(), responses=list_failures(404, 409, 413, 415, 422))
async def import_evaluation_cases(
    set_id: SetId,
    request: Request,
    tenant: AdminTenant,
    wiring: Wiring,
    replace: Annotated[bool, Query(description="为 true 时，文件里没有的都删掉")] = False,
) -> EvaluationImport:
    """Takes in a JSONL, CSV or XLSX file. With bad rows in it `replace` deletes nothing.

    The bytes of the file may also be the whole body.
    """
    read_sheet = build_sheet_reader(request, wiring.document_reader, tenant)
    cases, refused = await read_file(await read_sent_file(request), read_sheet)
    await wiring.evaluation_sets.put(tenant, set_id, cases, only=replace and not refused)
    return EvaluationImport(taken=len(cases), refused=refused)


@router.get("/sets/{set_id}/export", response_class=Response, responses=_FILE | list_failures(404))
async def export_evaluation_cases(
    set_id: SetId, tenant: StaffTenant, wiring: Wiring, format: FileFormat = FileFormat.JSONL
) -> Response:
    """All cases as a file, which `import` takes."""
    found, _ = await wiring.evaluation_sets.list_cases(tenant, set_id)
    dialogues = [case.dialogue for case in found]
    name = f"evaluation.{format}"
    if format is FileFormat.JSONL:
        content, kind = await asyncio.to_thread(write_jsonl, dialogues), JSONL
    else:
        content, kind = await asyncio.to_thread(write_table, name, dialogues)
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


@router.post("/runs", status_code=202, responses=list_failures(404, 409))
async def start_evaluation_run(body: EvaluationRunIn, tenant: AdminTenant, wiring: Wiring) -> EvaluationReportOut:
    """Plays a set through the whole product, beside customers; while a run of the same set is not over, that one."""
    return await wiring.evaluation_runs.start(tenant, body.model_dump())


@router.get("/reports")
async def list_evaluation_reports(
    tenant: StaffTenant,
    wiring: Wiring,
    set_id: Annotated[str, Query(max_length=32, description="只列这个评测集的")] = "",
    sort: Annotated[
        Literal["-created", "created", "set", "-set"], Query(description="按什么排；前面加 - 为从大到小")
    ] = "-created",
    limit: Limit = 50,
    offset: Offset = 0,
) -> EvaluationReportPage:
    """A page of reports."""
    reports, total = await wiring.evaluation_runs.list_reports(tenant, set_id, limit, offset, sort)
    return EvaluationReportPage(reports=reports, total=total)


@router.get("/reports/{report_id}", responses=list_failures(404))
async def get_evaluation_report(report_id: ReportId, tenant: StaffTenant, wiring: Wiring) -> EvaluationReportOut:
    """One report, and how far its run is."""
    return await wiring.evaluation_runs.get(tenant, report_id)


@router.get("/reports/{report_id}/results", responses=list_failures(404))
async def list_evaluation_results(
    report_id: ReportId,
    tenant: StaffTenant,
    wiring: Wiring,
    verdict: Annotated[TurnVerdict | None, Query(description="只列这样判的")] = None,
    q: Annotated[str, Query(max_length=200, description="顾客的话里的字")] = "",
    tag: Annotated[str, Query(max_length=64, description="只列这个标签的")] = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> TurnResultPage:
    """What came of every turn, in the order of the set."""
    results, total = await wiring.evaluation_runs.list_results(
        tenant, report_id, verdict=verdict, text=q, tag=tag, limit=limit, offset=offset
    )
    return TurnResultPage(results=list(map(TurnResultOut.build_from, results)), total=total)


@router.get("/reports/{report_id}/compare", responses=list_failures(404))
async def compare_evaluation_reports(
    report_id: ReportId,
    tenant: StaffTenant,
    wiring: Wiring,
    before: Annotated[str, Query(min_length=1, max_length=32, description="先前的报告")],
) -> ReportComparisonOut:
    """What changed since another report, turn by turn."""
    return ReportComparisonOut.from_comparison(await wiring.evaluation_runs.compare_reports(tenant, before, report_id))


@router.delete("/reports/{report_id}", status_code=204, responses=list_failures(404, 409))
async def delete_evaluation_report(report_id: ReportId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes a report with its results."""
    await wiring.evaluation_runs.delete_report(tenant, report_id)
    return Response(status_code=204)
