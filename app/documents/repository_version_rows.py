"""Rows of `document_versions`, within the transactions of their callers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.base import now
from app.documents.repository_job_rows import dump_labels, read_labels
from app.documents.tables import Document, DocumentVersion
from app.documents.types import Change, Labels, VersionState
from knowledge.ingest import PreparedDocument
from knowledge.types import FaqColumns

_VERSION = DocumentVersion


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version of a document, numbered from 1; see `DocumentVersion`."""

    id: str
    number: int
    content_hash: str
    chunks: int
    name: str
    columns: FaqColumns | None
    labels: Labels
    author: str
    reason: str
    state: VersionState
    publish_at: datetime | None
    note: str
    decided_by: str
    decided_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class VersionDecision:
    """Who moves a version on, and what they say of it."""

    author: str = ""
    note: str = ""

    def build_values(self) -> dict[str, Any]:
        """Returns the columns in which the decision is stored."""
        return {"decided_by": self.author, "note": self.note, "decided_at": now()}


@dataclass(frozen=True, slots=True)
class Approval:
    """A decision to publish a version that is in one of these states."""

    decision: VersionDecision
    states: tuple[VersionState, ...]


class WrongState(Exception):
    """The version is not, or no longer, in a state that allows this."""


def match_versions(tenant: str, document_id: str) -> ColumnElement[bool]:
    """Matches the versions of a document."""
    return (_VERSION.tenant_id == tenant) & (_VERSION.document_id == document_id)


def select_versions(where: ColumnElement[bool], *also: Any) -> Select[*tuple[Any, ...]]:
    """Columns of a `VersionRow`, then those of `also`."""
    return select(*(getattr(_VERSION, field.name) for field in fields(VersionRow)), *also).where(where)


def build_version(row: Any) -> VersionRow:
    """Builds a version from a row that begins with the columns of `select_versions`."""
    values = {field.name: getattr(row, field.name) for field in fields(VersionRow)}
    columns = values["columns"]
    return VersionRow(
        **values
        | {
            "columns": FaqColumns(**columns) if columns else None,
            "labels": read_labels(values["labels"]),
            "state": VersionState(values["state"]),
        }
    )


async def add(
    connection: AsyncConnection, tenant: str, prepared: PreparedDocument, change: Change, labels: Labels
) -> None:
    """Adds a version: a draft, or the published one in place of that before it. labels: of a draft, until it is
    published.
    """
    if not change.draft:
        await _archive_published(connection, tenant, prepared.document.id)
    own = (Document.tenant_id == tenant) & (Document.id == prepared.document.id)
    given = update(Document).where(own).values(last_number=Document.last_number + 1).returning(Document.last_number)
    values = {
        "id": prepared.version_id,
        "number": (await connection.execute(given)).scalar_one(),
        "content_hash": prepared.content_hash,
        "chunks": prepared.size,
        "name": prepared.document.name,
        "columns": asdict(prepared.columns) if prepared.columns else None,
        "labels": dump_labels(labels) if change.draft else {},
        "author": change.author,
        "reason": change.reason,
        "state": VersionState.DRAFT if change.draft else VersionState.PUBLISHED,
        "created_at": now(),
    }
    await connection.execute(insert(_VERSION).values(tenant_id=tenant, document_id=prepared.document.id, **values))


async def publish_version(
    connection: AsyncConnection, tenant: str, prepared: PreparedDocument, approval: Approval
) -> None:
    """Publishes a version that exists. Raises WrongState."""
    await _archive_published(connection, tenant, prepared.document.id)
    mine = match_versions(tenant, prepared.document.id) & (_VERSION.id == prepared.version_id)
    values = {"state": VersionState.PUBLISHED, "publish_at": None, "chunks": prepared.size}
    change = update(_VERSION).where(mine, _VERSION.state.in_(approval.states))
    if not (await connection.execute(change.values(values | approval.decision.build_values()))).rowcount:
        raise WrongState(prepared.document.name)


async def _archive_published(connection: AsyncConnection, tenant: str, document_id: str) -> None:
    published = match_versions(tenant, document_id) & (_VERSION.state == VersionState.PUBLISHED)
    values = {"state": VersionState.ARCHIVED, "archived_at": now()}
    await connection.execute(update(_VERSION).where(published).values(values))
