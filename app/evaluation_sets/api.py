"""Evaluation sets: list, make, fill, take in and out as a file."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import APIRouter, Path, Query, Request, Response

from app.evaluation_sets.schemas import (
    EvaluationCaseIn,
    EvaluationCaseList,
    EvaluationCaseOut,
    EvaluationCasePage,
    EvaluationCasesIn,
    EvaluationImport,
    EvaluationSetIn,
    EvaluationSetList,
    EvaluationSetOut,
    RefusedRow,
)
from app.evaluation_sets.transfer import read_file, write_jsonl, write_table
from app.evaluation_sets.types import CaseOrigin
from app.http.deps import AdminTenant, StaffTenant, Wired
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.forms import build_file_body, read_sent_file
from app.http.routes import GuardedRoute
from app.http.sheets import build_sheet_reader
from app.spreadsheets import CSV, XLSX

if TYPE_CHECKING:
    from app.evaluation_sets.service import EvaluationSets
    from knowledge.ingest import DocumentReader


class Parts(Protocol):
    """What these routes are served by."""

    document_reader: DocumentReader
    evaluation_sets: EvaluationSets


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/evaluation/sets", tags=["evaluation"], route_class=GuardedRoute)

SetId = Annotated[str, Path(max_length=32)]
CaseId = Annotated[str, Path(max_length=32)]
JSONL = "application/jsonl"
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_FILE: Responses = {200: {"content": {JSONL: {"schema": {"type": "string"}}, CSV: {"schema": {"type": "string"}}}}}
_FILE[200]["content"][XLSX] = _BINARY


class FileFormat(StrEnum):
    """Of an export: JSONL keeps everything, tables are without the pages that customers look at."""

    JSONL = "jsonl"
    CSV = "csv"
    XLSX = "xlsx"


@router.get("")
async def list_evaluation_sets(tenant: StaffTenant, wiring: Wiring) -> EvaluationSetList:
    """All sets, by their names."""
    return EvaluationSetList(sets=list(map(EvaluationSetOut.from_set, await wiring.evaluation_sets.list_all(tenant))))


@router.post("", status_code=201, responses=list_failures(409))
async def add_evaluation_set(body: EvaluationSetIn, tenant: AdminTenant, wiring: Wiring) -> EvaluationSetOut:
    """Makes an empty set."""
    return EvaluationSetOut.from_set(await wiring.evaluation_sets.add(tenant, body.name, body.description))


@router.get("/{set_id}", responses=list_failures(404))
async def get_evaluation_set(set_id: SetId, tenant: StaffTenant, wiring: Wiring) -> EvaluationSetOut:
    """One set."""
    return EvaluationSetOut.from_set(await wiring.evaluation_sets.get(tenant, set_id))


@router.put("/{set_id}", responses=list_failures(404, 409))
async def change_evaluation_set(
    set_id: SetId, body: EvaluationSetIn, tenant: AdminTenant, wiring: Wiring
) -> EvaluationSetOut:
    """Calls a set otherwise."""
    return EvaluationSetOut.from_set(
        await wiring.evaluation_sets.change_set(tenant, set_id, body.name, body.description)
    )


@router.delete("/{set_id}", status_code=204, responses=list_failures(404))
async def delete_evaluation_set(set_id: SetId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Deletes a set with its cases; reports stay."""
    await wiring.evaluation_sets.delete_set(tenant, set_id)
    return Response(status_code=204)


@router.get("/{set_id}/cases", responses=list_failures(404))
async def list_evaluation_cases(
    set_id: SetId,
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=200, description="第一句话或编号里的字")] = "",
    origin: Annotated[CaseOrigin | None, Query(description="只列来自这里的")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> EvaluationCasePage:
    """A page of the cases, in the order they came."""
    cases, total = await wiring.evaluation_sets.list_cases(
        tenant, set_id, text=q, origin=origin, limit=limit, offset=offset
    )
    return EvaluationCasePage(cases=list(map(EvaluationCaseOut.from_case, cases)), total=total)


@router.post("/{set_id}/cases", responses=list_failures(404, 409))
async def put_evaluation_cases(
    set_id: SetId, body: EvaluationCasesIn, tenant: AdminTenant, wiring: Wiring
) -> EvaluationCaseList:
    """Puts cases into a set, each in the place of one of the same id."""
    taken = await wiring.evaluation_sets.put(tenant, set_id, body.build_cases())
    return EvaluationCaseList(cases=list(map(EvaluationCaseOut.from_case, taken)))


@router.put("/{set_id}/cases/{case_id}", responses=list_failures(404))
async def change_evaluation_case(
    set_id: SetId, case_id: CaseId, body: EvaluationCaseIn, tenant: AdminTenant, wiring: Wiring
) -> EvaluationCaseOut:
    """Writes a case anew; it keeps its key."""
    return EvaluationCaseOut.from_case(await wiring.evaluation_sets.change_case(tenant, set_id, case_id, body.dialogue))


@router.delete("/{set_id}/cases/{case_id}", status_code=204, responses=list_failures(404))
async def delete_evaluation_case(set_id: SetId, case_id: CaseId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Takes a case out."""
    await wiring.evaluation_sets.drop_case(tenant, set_id, case_id)
    return Response(status_code=204)


@router.post("/{set_id}/import", openapi_extra=build_file_body(), responses=list_failures(404, 409, 413, 415, 422))
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
    read = await read_file(await read_sent_file(request), build_sheet_reader(request, wiring.document_reader, tenant))
    await wiring.evaluation_sets.put(tenant, set_id, read.cases, only=replace and not read.refused)
    refused = [RefusedRow(row=row, message=message) for row, message in read.refused]
    return EvaluationImport(taken=len(read.cases), refused=refused)


@router.get("/{set_id}/export", response_class=Response, responses=_FILE | list_failures(404))
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
