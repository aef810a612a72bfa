"""Findings in SQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, case, delete, func, insert, or_, select, update
from sqlalchemy.orm import aliased
from sqlalchemy.sql import ColumnElement

from app.db.base import now
from app.db.batches import split_batches
from app.db.engine import Database, build_upsert
from app.documents.tables import Document
from app.documents.types import DocumentKind
from app.ids import create_id
from app.quality.checks.types import Coverage, IssueKind, IssueState, QualityIssue, Severity
from app.quality.schemas import QualityCheckOut, QualityIssueOut
from app.quality.tables import QualityCheckRow
from app.quality.tables import QualityIssueRow as Table

EXCERPT_CHARS = 400


@dataclass(frozen=True, slots=True)
class IssueFilters:
    """Which are listed; None is any. document: either of the two."""

    kind: IssueKind | None = None
    severity: Severity | None = None
    state: IssueState | None = None
    document_id: str = ""


# A finding with the titles of its documents.
_OTHER = aliased(Document)
_ISSUES = (
    select(
        Table.__table__,
        Document.title,
        (Document.kind == DocumentKind.FAQ).label("curated"),
        func.coalesce(_OTHER.title, "").label("other_title"),
    )
    .join(Document, (Document.tenant_id == Table.tenant_id) & (Document.id == Table.document_id))
    .outerjoin(_OTHER, (_OTHER.tenant_id == Table.tenant_id) & (_OTHER.id == Table.other_document_id))
)
# Both documents exist and are not in the bin: without either one nobody could correct the finding.
_CORRECTABLE = (Document.kind != DocumentKind.BINNED) & (
    (Table.other_document_id == "") | (_OTHER.kind != DocumentKind.BINNED)
)
_BY_SEVERITY = case({Severity.HIGH: 0, Severity.MEDIUM: 1}, value=Table.severity, else_=2)


def save_issues(connection: Connection, tenant: str, issues: Sequence[QualityIssue], document_id: str) -> Counter[str]:
    """Replaces the stored findings by those of a run. Decisions stay with their findings.

    Args:
        connection: Of the transaction.
        tenant: Whose they are.
        issues: The findings of the run.
        document_id: Of a run for one document, else empty.

    Returns:
        How many findings are new, stayed and are gone.
    """
    found = {issue.fingerprint: issue for issue in issues}
    own = _match_document(tenant, document_id)
    rows = connection.execute(select(Table.fingerprint, Table.id).where(own)).all()
    known = {row.fingerprint: row.id for row in rows}
    gone = [known[key] for key in known.keys() - found.keys()]
    for ids in split_batches(gone):
        connection.execute(delete(Table).where(Table.tenant_id == tenant, Table.id.in_(ids)))
    for key in known.keys() & found.keys():
        one = (Table.tenant_id == tenant) & (Table.id == known[key])
        connection.execute(update(Table).where(one).values(**_build_text_values(found[key])))
    added = [_build_row(tenant, key, issue) for key, issue in found.items() if key not in known]
    added = _drop_deleted(connection, tenant, added)
    for part in split_batches(added):
        connection.execute(insert(Table), part)
    return Counter(new=len(added), stayed=len(known) - len(gone), gone=len(gone))


def save_check(connection: Connection, tenant: str, coverage: Coverage, moment: datetime) -> None:
    """Stores that the whole base was checked, as it was at that moment."""
    values = asdict(coverage) | {"checked_at": moment}
    connection.execute(build_upsert(connection, QualityCheckRow, {"tenant_id": tenant} | values))


def find_last_check(connection: Connection, tenant: str) -> QualityCheckOut | None:
    """Returns the last check of the whole base; None where there was none."""
    row = connection.execute(select(QualityCheckRow.__table__).where(QualityCheckRow.tenant_id == tenant)).first()
    if row is None:
        return None
    since = select(func.count()).select_from(Document).where(Document.tenant_id == tenant, Document.live)
    changed = connection.execute(since.where(Document.updated_at > row.checked_at)).scalar_one()
    return QualityCheckOut.build_from(row, changed=changed)


async def load_page(
    database: Database, tenant: str, filters: IssueFilters, offset: int, limit: int
) -> tuple[list[QualityIssueOut], int]:
    """Returns one page of findings, the most severe first, and the total number."""
    query = _ISSUES.where(_match_document(tenant, filters.document_id), _CORRECTABLE)
    for column, value in ((Table.kind, filters.kind), (Table.severity, filters.severity), (Table.state, filters.state)):
        if value is not None:
            query = query.where(column == value)
    query = query.order_by(_BY_SEVERITY, Table.kind, Table.created_at.desc(), Table.id)
    rows, total = await database.fetch_page(query, offset, limit)
    return list(map(QualityIssueOut.build_from, rows)), total


def count_open(connection: Connection, tenant: str) -> dict[str, int]:
    """Returns how many open findings there are of each kind."""
    query = _ISSUES.with_only_columns(Table.kind, func.count().label("number"), maintain_column_froms=True)
    query = query.where(Table.tenant_id == tenant, Table.state == IssueState.OPEN, _CORRECTABLE).group_by(Table.kind)
    return {row.kind: row.number for row in connection.execute(query)}


def decide_issue(
    connection: Connection, tenant: str, issue_id: str, state: IssueState, reason: str, author: str
) -> QualityIssueOut | None:
    """Stores a decision on a finding and returns it; None where there is none of that id."""
    one = (Table.tenant_id == tenant) & (Table.id == issue_id)
    values = {"state": state, "reason": reason, "decided_by": author, "decided_at": now()}
    connection.execute(update(Table).where(one).values(**values))
    row = connection.execute(_ISSUES.where(one)).first()
    return None if row is None else QualityIssueOut.build_from(row)


def _match_document(tenant: str, document_id: str) -> ColumnElement[bool]:
    where = Table.tenant_id == tenant
    if document_id:
        where &= or_(Table.document_id == document_id, Table.other_document_id == document_id)
    return where


def _drop_deleted(connection: Connection, tenant: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drops findings about documents that were deleted while the checks ran."""
    query = select(Document.id).where(Document.tenant_id == tenant, Document.kind != DocumentKind.BINNED)
    there = set(connection.execute(query).scalars()) if rows else set()
    return [row for row in rows if {row["document_id"], row["other_document_id"] or row["document_id"]} <= there]


def _build_text_values(issue: QualityIssue) -> dict[str, Any]:
    """Returns the columns about the texts of a finding, which change: two documents are ordered by their names."""
    return {
        "document_id": issue.document_id,
        "chunk_id": issue.chunk.id if issue.chunk else "",
        "other_document_id": issue.other.document.id if issue.other else "",
        "other_chunk_id": issue.other.id if issue.other else "",
        "detail": issue.detail,
        "excerpts": [one.text[:EXCERPT_CHARS] for one in (issue.chunk, issue.other) if one is not None],
        "values": list(issue.values),
    }


def _build_row(tenant: str, fingerprint: str, issue: QualityIssue) -> dict[str, Any]:
    return _build_text_values(issue) | {
        "tenant_id": tenant,
        "id": create_id(),
        "fingerprint": fingerprint,
        "kind": issue.kind,
        "severity": issue.severity,
        "state": IssueState.OPEN,
        "reason": "",
        "decided_by": "",
        "decided_at": None,
        "created_at": now(),
    }
