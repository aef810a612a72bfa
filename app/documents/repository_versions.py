"""Versions that are not published yet, and the bytes of all: what a draft is until somebody approves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update

from app.db.base import now
from app.db.engine import Database
from app.documents.repository_knowledge import (
    Together,
    build_document_values,
    drop_unused_contents,
    hold_revision,
    require_current,
    write_content,
    write_document,
)
from app.documents.repository_version_rows import (
    VersionDecision,
    VersionRow,
    WrongState,
    add,
    build_version,
    match_versions,
    select_versions,
)
from app.documents.tables import Content, Document, DocumentVersion
from app.documents.types import UNPUBLISHED, Change, DocumentKind, Filing, Labels, VersionState
from knowledge.ingest import PreparedDocument

_VERSION = DocumentVersion


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version with its bytes."""

    row: VersionRow
    content: bytes


@dataclass(frozen=True, slots=True)
class OpenVersion:
    """A version that waits for somebody, and its document."""

    tenant: str
    document_id: str
    title: str
    path: str
    published: bool
    row: VersionRow


class VersionRepository:
    """None of this touches what searches find, so no revision is raised; publishing is `KnowledgeRepository.commit`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_draft(
        self,
        tenant: str,
        prepared: PreparedDocument,
        replaces: str | None,
        filing: Filing | None = None,
        labels: Labels = Labels(),  # noqa: B008 - frozen
        together: Together | None = None,
        change: Change = Change(draft=True),  # noqa: B008 - frozen
    ) -> int:
        """Keeps a draft, of a new document where none is filed so; returns the revision as it stands.

        Arguments and errors: see `KnowledgeRepository.commit`.
        """
        filing, document = filing or Filing(prepared.document.name), prepared.document
        async with self._database.write() as connection:
            revision = await hold_revision(connection, tenant)
            await require_current(connection, tenant, prepared, replaces, filing)
            await write_content(connection, tenant, prepared)
            published = select(Document.published).where(Document.tenant_id == tenant, Document.id == document.id)
            if not (await connection.execute(published)).scalar_one_or_none():
                values = await build_document_values(connection, tenant, prepared, filing, labels)
                values |= {"published": False, "live": False, "revision": revision}
                await write_document(connection, tenant, document.id, values, replaces is None)
                labels = Labels()  # the document has them already, and may be given others
            await add(connection, tenant, prepared, change, labels)
            if together is not None:
                await connection.run_sync(together, revision)
            return revision

    async def get(self, tenant: str, document_id: str, number: int) -> StoredVersion | None:
        """Returns a version with the file that was uploaded; None without one."""
        where = match_versions(tenant, document_id) & (_VERSION.number == number)
        held = (Content.tenant_id == _VERSION.tenant_id) & (Content.content_hash == _VERSION.content_hash)
        row = await self._database.fetch_first(select_versions(where, Content.data).join(Content, held))
        return None if row is None else StoredVersion(build_version(row), row.data)

    async def list_all(self, tenant: str, document_id: str) -> list[VersionRow]:
        """Lists the versions of a document, the newest first."""
        query = select_versions(match_versions(tenant, document_id)).order_by(_VERSION.number.desc())
        return [build_version(row) for row in await self._database.fetch(query)]

    async def find_previous(self, tenant: str, document_id: str, number: int) -> int:
        """Returns the number of the version before this one, of those that still exist; 0 for the first."""
        query = select(func.max(_VERSION.number)).where(match_versions(tenant, document_id), _VERSION.number < number)
        return await self._database.fetch_value(query) or 0

    async def load_open(
        self, tenant: str, states: Sequence[VersionState] = UNPUBLISHED, *, offset: int = 0, limit: int = 100
    ) -> tuple[list[OpenVersion], int]:
        """Loads versions in these states, the latest first, and how many there are in all."""
        where = (_VERSION.tenant_id == tenant) & _VERSION.state.in_(states)
        query = _select_with_documents(where).order_by(_VERSION.created_at.desc(), _VERSION.id)
        rows, total = await self._database.fetch_page(query, offset, limit)
        return [_build_open_version(row) for row in rows], total

    async def list_due(self) -> list[OpenVersion]:
        """Lists the versions of all tenants that are to be published by now, in the order of these times."""
        where = (_VERSION.state == VersionState.SCHEDULED) & (_VERSION.publish_at <= now())
        query = _select_with_documents(where).order_by(_VERSION.publish_at, _VERSION.number)
        return [_build_open_version(row) for row in await self._database.fetch(query)]

    async def move_version(
        self,
        tenant: str,
        document_id: str,
        number: int,
        states: tuple[VersionState, ...],
        to: VersionState,
        decision: VersionDecision,
        publish_at: datetime | None = None,
    ) -> None:
        """Moves a version from one of `states` to another, unpublished one. Raises WrongState."""
        mine = match_versions(tenant, document_id) & (_VERSION.number == number) & _VERSION.state.in_(states)
        values = {"state": to, "publish_at": publish_at} | decision.build_values()
        if not await self._database.execute(update(_VERSION).where(mine).values(values)):
            raise WrongState(document_id)

    async def discard_version(self, tenant: str, document_id: str, number: int) -> None:
        """Deletes a version that never was published, nor is all that its document has. Raises WrongState."""
        mine = match_versions(tenant, document_id) & (_VERSION.number == number) & _VERSION.state.in_(UNPUBLISHED)
        shown = select(Document.version_id).where(Document.tenant_id == tenant, Document.id == document_id)
        async with self._database.write() as connection:
            await hold_revision(connection, tenant)
            gone = delete(_VERSION).where(mine, _VERSION.id.not_in(shown))
            if not (await connection.execute(gone)).rowcount:
                raise WrongState(document_id)
            await drop_unused_contents(connection, tenant)


def _select_with_documents(where: Any) -> Any:
    own = (Document.tenant_id == _VERSION.tenant_id) & (Document.id == _VERSION.document_id)
    own &= Document.kind != DocumentKind.BINNED
    told = Document.tenant_id, Document.id.label("document_id"), Document.title, Document.path, Document.published
    return select_versions(where, *told).join(Document, own)


def _build_open_version(row: Any) -> OpenVersion:
    return OpenVersion(row.tenant_id, row.document_id, row.title, row.path, row.published, build_version(row))
