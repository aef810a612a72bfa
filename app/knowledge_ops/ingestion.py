"""Taking documents in and out: idempotent by content, all or nothing per file, a report per file."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from app.db.documents import DocumentRepository, DocumentRow
from app.db.knowledge import KnowledgeRepository, StaleDocument
from app.errors import NotFound
from app.knowledge_ops.following import Follower
from knowledge.errors import EmbeddingUnavailable, InvalidDocument, KnowledgeError
from knowledge.ingest import Identity, Ingestor, Progress, content_hash
from knowledge.parsing.registry import check_name
from knowledge.sandbox.slots import FairSlots
from knowledge.types import FaqColumns, Notice

MAX_CONCURRENT_FILES = 8
MAX_FILES_OF_A_TENANT = 2
"""Files prepared at once, over all requests: a small upload need not wait for a large one to end, nor for another's."""


class FileOutcome(StrEnum):
    """What became of one file."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileReport:
    """`ready`: searches find it. `same_as`: the document, of another name, that already has this content.

    `notices`: what the parser has to say; empty where a file did not have to be read again.
    """

    name: str
    outcome: FileOutcome
    document_id: str = ""
    title: str = ""
    chunks: int = 0
    revision: int = 0
    ready: bool = False
    same_as: str | None = None
    notices: tuple[Notice, ...] = ()
    error: KnowledgeError | None = None


@dataclass(frozen=True, slots=True)
class _Upload:
    name: str
    content: bytes
    category: str | None
    tags: tuple[str, ...] | None
    progress: Progress | None
    columns: FaqColumns | None = None

    def changes(self, known: DocumentRow) -> bool:
        return (
            self.columns is not None
            or known.content_hash != content_hash(self.content)
            or self.category not in (None, known.category)
            or self.tags not in (None, known.tags)
        )

    def identity(self, known: DocumentRow | None) -> Identity:
        category = self.category if self.category is not None else known.category if known else ""
        tags = self.tags if self.tags is not None else known.tags if known else ()
        return Identity(known.id if known else secrets.token_hex(8), secrets.token_hex(8), category, tags)


class IngestionService:
    """Commits to SQL and waits for the index. A file that cannot be taken changes nothing and stops no other file.

    Same name and content: unchanged. Same name, other content (or other category or tags, where given): a new version
    that replaces the old chunks at once. New name, content that another document has: unchanged, naming that one,
    because two copies would only crowd out other evidence.
    """

    def __init__(
        self,
        documents: DocumentRepository,
        knowledge: KnowledgeRepository,
        ingestor: Ingestor,
        follower: Follower,
        wait_seconds: float = 60.0,
    ) -> None:
        """`wait_seconds`: how long `add` and `delete` wait for the index after their commit."""
        self._documents = documents
        self._knowledge = knowledge
        self._ingestor = ingestor
        self._follower = follower
        self._wait_seconds = wait_seconds
        self._slots = FairSlots(MAX_CONCURRENT_FILES, MAX_FILES_OF_A_TENANT)

    async def add(
        self,
        tenant: str,
        files: Iterable[tuple[str, bytes]],
        category: str | None = None,
        tags: tuple[str, ...] | None = None,
        progress: Progress | None = None,
        columns: FaqColumns | None = None,
    ) -> list[FileReport]:
        """Takes files in, in order, and returns once they answer or `wait_seconds` passed (see `ready`).

        files: names and contents; read one by one, so a generator keeps one in memory. category, tags: None keeps
        those of an existing document. columns: where tables hold questions and answers; given, a file that is known
        is read again.
        """
        uploads = (_Upload(name, content, category, tags, progress, columns) for name, content in files)
        reports = [await self._add(tenant, upload) for upload in uploads]
        revision = max((report.revision for report in reports), default=0)
        ready = await self._answers(tenant, revision)
        return [replace(report, ready=ready and report.error is None) for report in reports]

    async def delete(self, tenant: str, document_id: str) -> bool:
        """Removes a document; True when searches no longer find it. Raises NotFound."""
        revision = await self._knowledge.delete(tenant, document_id)
        if revision is None:
            raise NotFound(f"没有编号为 {document_id} 的文档", document_id=document_id)
        return await self._answers(tenant, revision)

    async def _answers(self, tenant: str, revision: int) -> bool:
        return revision == 0 or await self._follower.reached(tenant, revision, self._wait_seconds)

    async def _add(self, tenant: str, upload: _Upload) -> FileReport:
        try:
            upload = replace(upload, name=check_name(upload.name))
            async with self._slots.hold(tenant):
                while True:
                    try:
                        return await self._store(tenant, upload)
                    except StaleDocument:  # another upload of this name came first: look again at what it left
                        continue
        except InvalidDocument as error:
            return FileReport(error.name, FileOutcome.FAILED, error=error)
        except KnowledgeError as error:
            return FileReport(upload.name, FileOutcome.FAILED, error=error)

    async def _store(self, tenant: str, upload: _Upload) -> FileReport:
        name = upload.name
        known = await self._documents.named(tenant, name)
        if known is None and (twin := await self._documents.holding(tenant, content_hash(upload.content))):
            return _unchanged(name, twin)
        if known and not upload.changes(known):
            return _unchanged(name, known)
        identity = upload.identity(known)
        try:
            prepared = await self._ingestor.prepare(
                tenant, name, upload.content, identity, upload.progress, columns=upload.columns
            )
        except EmbeddingUnavailable:
            if not await self._follower.by_keywords(tenant):
                raise
            prepared = await self._ingestor.prepare(
                tenant, name, upload.content, identity, columns=upload.columns, embed=False
            )
        revision = await self._knowledge.commit(tenant, prepared, replaces=known.version_id if known else None)
        return FileReport(
            name=name,
            outcome=FileOutcome.UPDATED if known else FileOutcome.CREATED,
            document_id=identity.document_id,
            title=prepared.document.title,
            chunks=len(prepared.chunks),
            revision=revision,
            notices=prepared.notices,
        )


def _unchanged(name: str, known: DocumentRow) -> FileReport:
    return FileReport(
        name=name,
        outcome=FileOutcome.UNCHANGED,
        document_id=known.id,
        title=known.title,
        chunks=known.chunks,
        revision=known.revision,
        same_as=known.name if known.name != name else None,
    )
