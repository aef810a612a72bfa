"""The words of a company's own: list, put, delete, take in and out as a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import APIRouter, Path, Query, Request, Response

from app.errors import Conflict
from app.http.deps import AdminTenant, StaffTenant, Wired
from app.http.failures import Responses, list_failures
from app.http.fields import Offset
from app.http.forms import build_file_body, read_sent_file
from app.http.routes import GuardedRoute
from app.http.sheets import build_sheet_reader
from app.vocabulary.schemas import (
    VocabularyEntriesIn,
    VocabularyEntryIn,
    VocabularyEntryOut,
    VocabularyPage,
    VocabularyReport,
    VocabularySuggestionList,
    VocabularySuggestionOut,
)
from app.vocabulary.transfer import read, write_entries
from app.vocabulary.types import Refusal
from knowledge.vocabulary import VocabularyEntry, VocabularyKind

if TYPE_CHECKING:
    from app.vocabulary.service import VocabularyService
    from app.vocabulary.suggestions import Suggestions
    from knowledge.ingest import DocumentReader


class Parts(Protocol):
    """What these routes are served by."""

    document_reader: DocumentReader
    vocabulary: VocabularyService
    vocabulary_suggestions: Suggestions


Wiring = Wired[Parts]

router = APIRouter(prefix="/api/v1/knowledge/vocabulary", tags=["vocabulary"], route_class=GuardedRoute)

CSV = "text/csv"
EntryId = Annotated[str, Path(max_length=32)]
_INDEXING = "检索还在换用新的词表"
_LATER: Responses = {202: {"description": _INDEXING}}
_ENTRY_LATER: Responses = {202: {"description": _INDEXING, "model": VocabularyEntryOut}}
_REPORT_LATER: Responses = {202: {"description": _INDEXING, "model": VocabularyReport}}
_CSV_FILE: Responses = {200: {"content": {CSV: {"schema": {"type": "string"}}}}}


@router.get("")
async def list_vocabulary(
    tenant: StaffTenant,
    wiring: Wiring,
    q: Annotated[str, Query(max_length=64, description="词里的字")] = "",
    kind: Annotated[VocabularyKind | None, Query(description="只列这一种")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Offset = 0,
) -> VocabularyPage:
    """A page of the entries."""
    entries, total = await wiring.vocabulary.load_page(tenant, q, kind, limit, offset)
    counts = await wiring.vocabulary.count_kinds(tenant)
    return VocabularyPage(entries=list(map(VocabularyEntryOut.from_entry, entries)), total=total, counts=counts)


@router.put("", responses=_ENTRY_LATER | list_failures(409))
async def put_vocabulary_entry(
    body: VocabularyEntryIn, response: Response, tenant: AdminTenant, wiring: Wiring
) -> VocabularyEntryOut:
    """Takes an entry in, in the place of one of its kind and term. 200 once searches know it, 202 before."""
    report = await wiring.vocabulary.put(tenant, [body.entry])
    [found] = report.results
    if isinstance(found, Refusal):
        raise Conflict(found.message, code=found.code, term=found.term)
    if not await wiring.vocabulary.wait_until_known(tenant, report.revision):
        response.status_code = 202
    return VocabularyEntryOut.from_entry(found)


@router.post("/entries", responses=_REPORT_LATER)
async def put_vocabulary_entries(
    body: VocabularyEntriesIn, response: Response, tenant: AdminTenant, wiring: Wiring
) -> VocabularyReport:
    """Takes several entries in by one change, suggestions for example. 200 once searches know them, 202 before."""
    entries = [given.entry for given in body.entries]
    return await _put(tenant, wiring, response, entries, list(range(1, len(entries) + 1)), [])


@router.post(
    "/import",
    openapi_extra=build_file_body(),
    responses=_REPORT_LATER | list_failures(400, 413, 415),
)
async def import_vocabulary(
    request: Request, response: Response, tenant: AdminTenant, wiring: Wiring
) -> VocabularyReport:
    """Takes in the rows of a CSV or XLSX file with the columns of `export`. 200 once searches know them, 202 before.

    The bytes of the file may also be the whole body.
    """
    found = await read(await read_sent_file(request), build_sheet_reader(request, wiring.document_reader, tenant))
    entries = [(row, one) for row, one in found if isinstance(one, VocabularyEntry)]
    refused = [(row, one) for row, one in found if isinstance(one, Refusal)]
    return await _put(tenant, wiring, response, [one for _, one in entries], [row for row, _ in entries], refused)


@router.get("/suggestions")
async def list_vocabulary_suggestions(tenant: StaffTenant, wiring: Wiring) -> VocabularySuggestionList:
    """Words that are cut apart, models, and short names that customers asked about in vain."""
    found = await wiring.vocabulary_suggestions.get_suggestions(tenant)
    return VocabularySuggestionList(suggestions=[VocabularySuggestionOut.model_validate(one) for one in found])


@router.get("/export", response_class=Response, responses=_CSV_FILE)
async def export_vocabulary(tenant: StaffTenant, wiring: Wiring) -> Response:
    """All entries as a CSV file."""
    content = write_entries(await wiring.vocabulary.list_all(tenant))
    name = {"Content-Disposition": 'attachment; filename="vocabulary.csv"'}
    return Response(content, media_type=CSV, headers=name)


@router.delete("/{entry_id}", status_code=204, responses=_LATER | list_failures(404))
async def delete_vocabulary_entry(entry_id: EntryId, tenant: AdminTenant, wiring: Wiring) -> Response:
    """Takes an entry out. 204 once no search uses it, 202 before."""
    revision = await wiring.vocabulary.drop(tenant, entry_id)
    return Response(status_code=204 if await wiring.vocabulary.wait_until_known(tenant, revision) else 202)


async def _put(
    tenant: str,
    wiring: Any,
    response: Response,
    entries: list[VocabularyEntry],
    rows: list[int],
    refused: list[tuple[int, Refusal]],
) -> VocabularyReport:
    report = await wiring.vocabulary.put(tenant, entries)
    if not await wiring.vocabulary.wait_until_known(tenant, report.revision):
        response.status_code = 202
    return VocabularyReport.from_report(report, refused, rows)
