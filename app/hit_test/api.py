"""Hit test: the chat's own retrieval and decision, with every number that decided."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from fastapi import APIRouter, Request, Response

from app.hit_test.batch import COLUMNS, build_cells, read_questions
from app.hit_test.schemas import (
    BatchSearchRequest,
    BatchSearchResponse,
    SearchRequest,
    SearchResponse,
)
from app.hit_test.trial import Trial, TrialResult
from app.http.deps import StaffTenant, Wired
from app.http.failures import Responses, list_failures
from app.http.forms import build_file_body, read_sent_file
from app.http.routes import GuardedRoute
from app.http.sheets import build_sheet_reader
from app.spreadsheets import CSV, XLSX, write_sheet

if TYPE_CHECKING:
    from app.hit_test.canaries import Canaries
    from app.hit_test.service import HitTest
    from app.limits.service import RateLimits
    from app.search.filter_requests import FilterRequests
    from knowledge.ingest import DocumentReader


class Parts(Protocol):
    """What these routes are served by."""

    canaries: Canaries
    document_reader: DocumentReader
    filters: FilterRequests
    hit_test: HitTest
    limits: RateLimits


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/knowledge", tags=["search"], route_class=GuardedRoute)
_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_TABLE: Responses = {200: {"content": {CSV: {"schema": {"type": "string"}}, XLSX: _BINARY}}}


class TableFormat(StrEnum):
    """Of the table of results."""

    CSV = "csv"
    XLSX = "xlsx"


@router.post("/search", response_model=SearchResponse, responses=list_failures(404, 409, 415))
async def search_knowledge(
    body: SearchRequest, request: Request, tenant: StaffTenant, wiring: Wiring
) -> SearchResponse:
    """Searches as the chat does, with drafts if wanted, and says why what was expected is not found."""
    trial = body.build_trial()
    if not body.drafts:  # which may be all that has such a label
        await wiring.filters.require(tenant, trial.where)
    async with wiring.limits.slots.open_slot(tenant, request.state.sender.key):
        trial_search = await wiring.canaries.open_trial(tenant, body.draft_keys) if body.drafts else None
        result = await wiring.hit_test.run(tenant, trial, trial_search)
    return SearchResponse.from_result(result, body.top_k, explain=body.explain)


@router.post("/search/batch", response_model=BatchSearchResponse)
async def search_many(
    body: BatchSearchRequest, request: Request, tenant: StaffTenant, wiring: Wiring
) -> BatchSearchResponse:
    """Tries many questions as the chat takes them, each in a place of its own."""
    results = await _run_trials(
        wiring, tenant, request.state.sender.key, [one.build_trial(body.decide) for one in body.questions]
    )
    return BatchSearchResponse.from_results(results)


@router.post(
    "/search/file",
    response_class=Response,
    openapi_extra=build_file_body(),
    responses=_TABLE | list_failures(400, 413, 415),
)
async def search_file(
    request: Request,
    tenant: StaffTenant,
    wiring: Wiring,
    decide: bool = False,
    format: TableFormat = TableFormat.CSV,
) -> Response:
    """Tries the questions of a file (TXT, CSV, XLSX or JSONL) and gives what came of them as a table.

    The bytes of the file may also be the whole body.
    """
    content = await read_sent_file(request)
    trials = await read_questions(content, build_sheet_reader(request, wiring.document_reader, tenant), decide=decide)
    results = await _run_trials(wiring, tenant, request.state.sender.key, trials)
    name = f"hit-test.{format}"
    cells = list(map(build_cells, trials, results))
    written, kind = await asyncio.to_thread(write_sheet, name, COLUMNS, cells)
    return Response(written, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _run_trials(wiring: Any, tenant: str, key: str, trials: Sequence[Trial]) -> list[TrialResult]:
    found = []
    for trial in trials:
        async with wiring.limits.slots.open_slot(tenant, key):
            found.append(await wiring.hit_test.run(tenant, trial))
    return found
