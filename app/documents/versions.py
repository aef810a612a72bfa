"""What becomes of versions: from a draft over its review to what customers are answered from, and back again."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from datetime import datetime

from loguru import logger

from app.db.base import now
from app.documents.diff import Diff, compare_paragraphs
from app.documents.ingestion import IngestionService, build_identity, build_not_found
from app.documents.repository import DocumentRepository, DocumentRow
from app.documents.repository_knowledge import KnowledgeRepository, StaleDocument
from app.documents.repository_version_rows import Approval, VersionDecision, VersionRow, WrongState
from app.documents.repository_versions import StoredVersion, VersionRepository
from app.documents.types import UNPUBLISHED, Change, Filing, Labels, VersionState
from app.errors import Conflict, NotFound
from knowledge.errors import InvalidDocument, Unavailable
from knowledge.ingest import Ingestor, PreparedDocument

_DRAFT, _REVIEW, _SCHEDULED = UNPUBLISHED
_APPROVABLE = (_REVIEW, _SCHEDULED)
_CALLED = {
    VersionState.DRAFT: "草稿",
    VersionState.REVIEW: "待审",
    VersionState.SCHEDULED: "定时发布",
    VersionState.PUBLISHED: "已发布",
    VersionState.ARCHIVED: "已归档",
}


class VersionService:
    """Every change is one transaction; publishing raises the revision, and what was answered before is gone with it."""

    def __init__(
        self,
        documents: DocumentRepository,
        knowledge: KnowledgeRepository,
        versions: VersionRepository,
        ingestion: IngestionService,
        ingestor: Ingestor,
    ) -> None:
        self._documents = documents
        self._knowledge = knowledge
        self.rows = self._versions = versions
        self._ingestion = ingestion
        self._ingestor = ingestor

    async def submit_version(self, tenant: str, document_id: str, number: int, decision: VersionDecision) -> None:
        """Submits a draft for review. Raises NotFound, Conflict."""
        await self._move_version(tenant, document_id, number, (_DRAFT,), _REVIEW, decision)

    async def reject_version(self, tenant: str, document_id: str, number: int, decision: VersionDecision) -> None:
        """Makes a submitted or scheduled version a draft again. Raises NotFound, Conflict."""
        await self._move_version(tenant, document_id, number, _APPROVABLE, _DRAFT, decision)

    async def schedule_version(
        self, tenant: str, document_id: str, number: int, decision: VersionDecision, publish_at: datetime
    ) -> None:
        """Approves a submitted version for a later moment. Raises NotFound, Conflict."""
        if publish_at <= now():
            raise Conflict("publish_at 要晚于现在；要马上发布，就不要给它", code="publish_at_past")
        await self._move_version(tenant, document_id, number, _APPROVABLE, _SCHEDULED, decision, publish_at)

    async def approve_version(self, tenant: str, document_id: str, number: int, decision: VersionDecision) -> bool:
        """Publishes a submitted version; True once it answers. Raises NotFound, Conflict, KnowledgeError."""
        known, stored = await self.find_version(tenant, document_id, number)
        _require(stored.row, _APPROVABLE)
        revision = await self._publish_version(tenant, known, stored, Approval(decision, _APPROVABLE))
        return await self._ingestion.wait_until_indexed(tenant, revision)

    async def discard_version(self, tenant: str, document_id: str, number: int) -> None:
        """Deletes a version that was not published. Raises NotFound, Conflict."""
        stored = await self._get_stored(tenant, document_id, number)
        _require(stored.row, UNPUBLISHED)
        try:
            await self._versions.discard_version(tenant, document_id, number)
        except WrongState as error:
            message = "新文档的最新一份草稿不能单独删除，或它刚刚被改过；不要这篇文档时，请删除文档"
            raise Conflict(message, code="version_conflict", version=number) from error

    async def roll_back(self, tenant: str, document_id: str, number: int, change: Change) -> bool:
        """Publishes the content of an archived version again, as a new version; True once it answers. Raises NotFound,
        Conflict, KnowledgeError.
        """
        known, stored = await self.find_version(tenant, document_id, number)
        _require(stored.row, (VersionState.ARCHIVED,))
        return await self._publish_again(tenant, known, stored, change)

    async def read_published_again(self, tenant: str, document_id: str, change: Change) -> bool:
        """Reads the bytes of the published version again, as a new version; True once it answers. Raises as `roll_back`
        does.
        """
        known = await self._documents.get(tenant, document_id)
        if known is None or not known.published:
            raise build_not_found(document_id)
        return await self._publish_again(
            tenant, known, await self._get_stored(tenant, document_id, known.version), change
        )

    async def _publish_again(self, tenant: str, known: DocumentRow, stored: StoredVersion, change: Change) -> bool:
        filing = _build_filing(known, stored.row)
        prepared = await self.read_again(tenant, known, stored, secrets.token_hex(8))
        try:
            revision = await self._knowledge.commit(tenant, prepared, known.version_id, filing, change=change)
        except StaleDocument as error:
            raise _build_conflict(stored.row.number) from error
        return await self._ingestion.wait_until_indexed(tenant, revision)

    async def publish_due(self) -> list[str]:
        """Publishes the versions whose scheduled moment has come, and returns their documents. What cannot be read
        becomes a draft again.
        """
        done: list[str] = []
        for due in await self._versions.list_due():
            tenant, document_id, row = due.tenant, due.document_id, due.row
            log = logger.bind(tenant=tenant, document_id=document_id, version=row.number)
            approval = Approval(VersionDecision(row.decided_by, row.note), (_SCHEDULED,))
            try:
                known, stored = await self.find_version(tenant, document_id, row.number)
                await self._publish_version(tenant, known, stored, approval)
                done.append(document_id)
            except (Conflict, NotFound) as error:  # another replica was quicker, or somebody changed it
                log.info("a scheduled version is not published now: {}", error)
            except Unavailable as error:
                log.warning("a scheduled version has to wait: {}", error)
            except InvalidDocument as error:
                log.warning("a scheduled version cannot be published: {}", error)
                with suppress(Conflict, NotFound):  # somebody changed it meanwhile
                    await self.reject_version(tenant, document_id, row.number, VersionDecision("", str(error)))
            except Exception:  # one tenant's trouble must not keep the others waiting
                log.exception("a scheduled version has to wait")
        return done

    async def compare_versions(self, tenant: str, document_id: str, number: int, against: int | None) -> Diff:
        """Compares a version with another one.

        against: the other one's number, 0 for an empty document. By default it is the published version for one that is
        not published, else the version before of those that still exist. Raises NotFound, InvalidDocument, Unavailable.
        """
        known, stored = await self.find_version(tenant, document_id, number)
        if against is None:
            answering = known.version if stored.row.state in UNPUBLISHED and known.published else 0
            against = answering or await self._versions.find_previous(tenant, document_id, number)
        new = await self._load_paragraphs(tenant, stored)
        old = (
            await self._load_paragraphs(tenant, await self._get_stored(tenant, document_id, against)) if against else ()
        )
        return await asyncio.to_thread(compare_paragraphs, old, new, number, against)

    async def find_version(self, tenant: str, document_id: str, number: int) -> tuple[DocumentRow, StoredVersion]:
        """Finds a document and one of its versions. Raises NotFound."""
        known = await self._documents.get(tenant, document_id)
        if known is None:
            raise build_not_found(document_id)
        return known, await self._get_stored(tenant, document_id, number)

    async def read_again(
        self, tenant: str, known: DocumentRow, stored: StoredVersion, version_id: str = ""
    ) -> PreparedDocument:
        """Reads a version from its bytes as files are read now, under the labels that a draft brings.

        A published version gave its labels to the document when it was published. version_id: of the version that is
        made; by default that of the stored one.
        """
        labels = stored.row.labels if stored.row.state in UNPUBLISHED else Labels()
        filing = _build_filing(known, stored.row)
        identity = build_identity(known, labels, filing.folder, version_id or stored.row.id)
        return await self._ingestion.prepare(tenant, filing.name, stored.content, identity, columns=stored.row.columns)

    async def _publish_version(self, tenant: str, known: DocumentRow, stored: StoredVersion, approval: Approval) -> int:
        prepared = await self.read_again(tenant, known, stored)
        filing, labels = _build_filing(known, stored.row), stored.row.labels
        try:
            return await self._knowledge.commit(tenant, prepared, known.version_id, filing, labels, approval=approval)
        except (StaleDocument, WrongState) as error:
            raise _build_conflict(stored.row.number) from error

    async def _move_version(
        self,
        tenant: str,
        document_id: str,
        number: int,
        states: tuple[VersionState, ...],
        to: VersionState,
        decision: VersionDecision,
        publish_at: datetime | None = None,
    ) -> None:
        stored = await self._get_stored(tenant, document_id, number)
        _require(stored.row, states)
        try:
            await self._versions.move_version(tenant, document_id, number, states, to, decision, publish_at)
        except WrongState as error:
            raise _build_conflict(number) from error

    async def _get_stored(self, tenant: str, document_id: str, number: int) -> StoredVersion:
        stored = await self._versions.get(tenant, document_id, number)
        if stored is None:
            raise NotFound("没有这篇文档或这个版本", document_id=document_id, version=number)
        return stored

    async def _load_paragraphs(self, tenant: str, stored: StoredVersion) -> tuple[str, ...]:
        row = stored.row
        return await self._ingestor.list_paragraphs(tenant, row.name, stored.content, row.columns)


def _build_filing(known: DocumentRow, row: VersionRow) -> Filing:
    """Returns where the document lies once the version is published.

    The version of a document with an external id may bring another file name, whose suffix decides how it is read.
    """
    if not known.external_id:
        return known.filing
    folder = known.filing.folder
    return Filing(f"{folder}/{row.name}" if folder else row.name, known.external_id)


def _require(row: VersionRow, states: tuple[VersionState, ...]) -> None:
    if row.state not in states:
        wanted = "或".join(f"“{_CALLED[state]}”" for state in states)
        message = f"第 {row.number} 版现在是“{_CALLED[row.state]}”，只有{wanted}的版本可以这样做"
        raise Conflict(message, code="wrong_version_state", version=row.number, state=row.state)


def _build_conflict(number: int) -> Conflict:
    return Conflict("这篇文档或这个版本刚刚被改过，请刷新后再试", code="version_conflict", version=number)
