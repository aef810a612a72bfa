"""Taking documents in and out: idempotent by content, all or nothing per file, a report per file."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from app.db.base import now
from app.documents.file_names import build_path
from app.documents.paths import parse_filing
from app.documents.repository import DocumentRepository, DocumentRow
from app.documents.repository_knowledge import KnowledgeRepository, StaleDocument
from app.documents.repository_labels import LabelRepository, PathTaken
from app.documents.repository_versions import VersionRepository
from app.documents.types import UNPUBLISHED, Change, FileOutcome, FileReport, Filing, Incoming, Labels, Previous
from app.errors import Conflict, NotFound
from knowledge.errors import EmbeddingUnavailable, InvalidDocument, KnowledgeError
from knowledge.ingest import Identity, Ingestor, PreparedDocument, Progress, hash_content
from knowledge.lazy import LazyModule
from knowledge.sandbox.slots import TenantSlots
from knowledge.types import FaqColumns

if TYPE_CHECKING:
    import httpx

    from app.index_follower import Follower
    from knowledge.chunking import ChunkOptions
    from knowledge.extraction import ReadDocument
else:
    httpx = LazyModule("httpx")


# Files prepared at once, over all requests: a small upload need not wait for a large one to end.
MAX_CONCURRENT_FILES = 8
# Of them so many of one tenant, so that none waits for the uploads of another.
MAX_FILES_OF_A_TENANT = 2

# What belongs to the commit of a file; it gets the connection and what will be reported, and raising undoes it all.
Committed = Callable[[Any, FileReport], None]


@dataclass(frozen=True, slots=True)
class _Upload:
    """A file whose path was checked. digest: of its content."""

    tenant: str
    filing: Filing
    file: Incoming
    digest: str
    progress: Progress | None
    committed: Committed | None

    def find_changes(self, known: DocumentRow) -> dict[str, Any]:
        """Finds the labels that differ from those known."""
        given = self.file.labels.list_given()
        return {name: value for name, value in given.items() if value != getattr(known, name)}

    def build_commit_hook(self, report: FileReport) -> Callable[[Any, int], None] | None:
        """Builds the call that reports the file within its commit, with the revision that the commit makes."""
        if (committed := self.committed) is None:
            return None
        return lambda connection, revision: committed(connection, replace(report, revision=revision))


class IngestionService:
    """Commits to SQL and waits for the index. A file that cannot be taken changes nothing and stops no other file.

    A document is known by its external id, or where it has none by its path; its file name alone says nothing. Of one
    that is known, the content decides: the same is unchanged, but for labels that are given; another is a new version
    that replaces the old chunks at once. A new document with content that another has is unchanged, naming that one,
    because two copies would only crowd out other evidence; that one moves there if it lies in no folder, as all did
    before documents had any. A draft is kept beside what is published, and changes nothing of it.
    """

    def __init__(
        self,
        documents: DocumentRepository,
        knowledge: KnowledgeRepository,
        versions: VersionRepository,
        labels: LabelRepository,
        ingestor: Ingestor,
        follower: Follower,
        wait_seconds: float = 60.0,
    ) -> None:
        """`wait_seconds`: how long `add`, `change_document` and the bin wait for the index after their commit."""
        self._documents = documents
        self._knowledge = knowledge
        self._versions = versions
        self._labels = labels
        self._ingestor = ingestor
        self._follower = follower
        self._wait_seconds = wait_seconds
        self._slots = TenantSlots(MAX_CONCURRENT_FILES, MAX_FILES_OF_A_TENANT)

    async def add(
        self,
        tenant: str,
        files: Iterable[tuple[str, bytes]],
        category: str | None = None,
        tags: tuple[str, ...] | None = None,
        progress: Progress | None = None,
        columns: FaqColumns | None = None,
        change: Change = Change(),  # noqa: B008 - frozen
    ) -> list[FileReport]:
        """Takes files in, in order, and returns once they answer or `wait_seconds` passed (see `ready`).

        files: paths and contents; read one by one, so a generator keeps one in memory. category, tags: None keeps
        those of an existing document. columns, change: see `Incoming`.
        """
        labels = Labels(category, tags)
        sent = (Incoming(path, content, "", labels, columns, change) for path, content in files)
        taken = [await self.ingest_file(tenant, file, progress) for file in sent]
        revision = max((report.revision for report in taken), default=0)
        ready = await self.wait_until_indexed(tenant, revision)
        return [replace(report, ready=ready and report.error is None) for report in taken]

    async def preview_file(self, tenant: str, file: Incoming, options: ChunkOptions) -> ReadDocument:
        """Shows what a file would be cut into, behind the tenant's other files. Raises InvalidDocument by its
        subclasses, EmbeddingUnavailable.
        """
        async with self._slots.hold_slot(tenant):
            name = parse_filing(file.path, file.external_id).name
            return await self._ingestor.preview(tenant, name, file.content, options, file.columns)

    async def ingest_file(
        self, tenant: str, file: Incoming, progress: Progress | None = None, committed: Committed | None = None
    ) -> FileReport:
        """Ingests one file without waiting for the index. Raises what `committed` raises, and nothing that is wrong
        with the file: that is in the report.
        """
        try:
            filing = parse_filing(file.path, file.external_id)
        except InvalidDocument as error:
            return FileReport(error.name, FileOutcome.FAILED, error=error)
        try:
            async with self._slots.hold_slot(tenant):
                digest = await asyncio.to_thread(hash_content, file.content)
                upload = _Upload(tenant, filing, file, digest, progress, committed)
                while True:
                    try:
                        return await self._store_document(upload)
                    except (StaleDocument, PathTaken):  # another upload came first: look again at what it left
                        continue
        except KnowledgeError as error:
            return FileReport(filing.path, FileOutcome.FAILED, error=error)

    async def change_document(
        self, tenant: str, document_id: str, labels: Mapping[str, Any], filing: Filing | None = None
    ) -> bool:
        """Changes labels or the path of a document; True when searches know of it. Raises NotFound, Conflict."""
        try:
            revision = await self._labels.change_labels(tenant, document_id, labels, filing)
        except PathTaken as error:
            raise Conflict(f"{error} 已有另一篇文档", code="path_taken", path=str(error)) from error
        if revision is None:
            raise build_not_found(document_id)
        return await self.wait_until_indexed(tenant, revision)

    async def expire_copies(self, tenant: str, url: str) -> list[str]:
        """Lets the documents expire that were imported from a URL by itself, since its page is gone; their paths.
        Others that only name the URL stay: what they say was not read there.
        """
        expired = []
        for row in await self._documents.list_at_url(tenant, url):
            if row.path == build_path(httpx.URL(url), PurePosixPath(row.path).suffix):
                await self.change_document(tenant, row.id, {"valid_until": now()})
                expired.append(row.path)
        return expired

    async def restore_validity(self, tenant: str, file: Incoming) -> None:
        """Removes the end of a document's validity, if it has passed, when a new version of the document is imported.

        A page that is imported again is meant to be answered from.
        """
        if file.change.draft or file.labels.valid_until is not None:
            return
        known = await self._documents.find_filed(tenant, parse_filing(file.path, file.external_id))
        if known is not None and known.valid_until is not None and known.valid_until <= now():
            await self.change_document(tenant, known.id, {"valid_until": None})

    async def wait_until_indexed(self, tenant: str, revision: int) -> bool:
        """Waits until searches know of a revision, `wait_seconds` at most. Returns whether they do."""
        return revision == 0 or await self._follower.wait_for_revision(tenant, revision, self._wait_seconds)

    async def _store_document(self, upload: _Upload) -> FileReport:
        known = await self._documents.find_filed(upload.tenant, upload.filing)
        if upload.file.change.draft:
            return await self._store_draft(upload, known)
        if known is None:
            twin = await self._documents.find_by_content(upload.tenant, upload.digest)
            if twin is None:
                return await self._commit(upload, None)
            if _is_moved(twin, upload.filing):
                return await self._change_labels(upload, twin)
            return _build_unchanged(upload, twin)
        if known.content_hash != upload.digest or upload.file.columns is not None or not known.published:
            return await self._commit(upload, known)
        if upload.find_changes(known) or known.filing != upload.filing:
            return await self._change_labels(upload, known)
        return _build_unchanged(upload, known)

    async def _store_draft(self, upload: _Upload, known: DocumentRow | None) -> FileReport:
        if known is None:
            twin = await self._documents.find_by_content(upload.tenant, upload.digest)
            return await self._commit(upload, None) if twin is None else _build_unchanged(upload, twin)
        same = known.content_hash == upload.digest and not upload.find_changes(known)
        same = same or await self._is_waiting_draft(upload, known)
        # Columns that are given have the file read again, so it is another draft even if its bytes are the same.
        if same and upload.file.columns is None:
            return _build_unchanged(upload, known)
        return await self._commit(upload, known)

    async def _is_waiting_draft(self, upload: _Upload, known: DocumentRow) -> bool:
        """Whether the same draft was sent before, and is not published yet."""
        sent = upload.digest, upload.file.labels
        versions = await self._versions.list_all(upload.tenant, known.id)
        return any(row.state in UNPUBLISHED and (row.content_hash, row.labels) == sent for row in versions)

    async def _commit(self, upload: _Upload, known: DocumentRow | None) -> FileReport:
        file = upload.file
        identity = build_identity(known, file.labels, upload.filing.folder, secrets.token_hex(8))
        prepared = await self.prepare(
            upload.tenant, upload.filing.name, file.content, identity, upload.progress, file.columns
        )
        change, answering = file.change, known if known and known.published else None
        outcome = FileOutcome.UPDATED if answering else FileOutcome.CREATED
        report = FileReport(
            path=upload.filing.path,
            outcome=FileOutcome.DRAFTED if change.draft else outcome,
            document_id=prepared.document.id,
            title=prepared.document.title,
            chunks=prepared.size,
            previous=None if change.draft else _build_previous(answering),
            notices=prepared.notices,
        )
        replaces, together = known.version_id if known else None, upload.build_commit_hook(report)
        write = self._versions.keep_draft if change.draft else self._knowledge.commit
        revision = await write(upload.tenant, prepared, replaces, upload.filing, file.labels, together, change)
        return replace(report, revision=revision)

    async def prepare(
        self,
        tenant: str,
        name: str,
        content: bytes,
        identity: Identity,
        progress: Progress | None = None,
        columns: FaqColumns | None = None,
    ) -> PreparedDocument:
        """See `Ingestor.prepare`; without embeddings where nothing of the tenant has any."""
        try:
            return await self._ingestor.prepare(tenant, name, content, identity, progress, columns=columns)
        except EmbeddingUnavailable:
            if not await self._follower.is_keywords_only(tenant):
                raise
            return await self._ingestor.prepare(tenant, name, content, identity, columns=columns, embed=False)

    async def _change_labels(self, upload: _Upload, known: DocumentRow) -> FileReport:
        report = replace(
            _build_unchanged(upload, known), outcome=FileOutcome.UPDATED, same_as=None, previous=_build_previous(known)
        )
        changes, together = upload.find_changes(known), upload.build_commit_hook(report)
        revision = await self._labels.change_labels(upload.tenant, known.id, changes, upload.filing, together)
        if revision is None:
            raise StaleDocument(known.path)
        return replace(report, revision=revision)


def build_identity(known: DocumentRow | None, labels: Labels, folder: str, version_id: str) -> Identity:
    """Builds what the chunks of a version are known by: what is not labelled stays as the document has it."""
    before: dict[str, Any] = {}
    if known:
        before = {"category": known.category, "tags": known.tags, **known.own_labels}
    merged = Labels(**before | labels.list_given())
    document_id = known.id if known else secrets.token_hex(8)
    about = merged.product, merged.product_version
    return Identity(document_id, version_id, merged.category or "", merged.tags or (), folder, *about)


def build_not_found(document_id: str) -> NotFound:
    """Builds the error for a document that is not there."""
    return NotFound(f"没有编号为 {document_id} 的文档", document_id=document_id)


def _is_moved(twin: DocumentRow, filing: Filing) -> bool:
    """Whether a document of the same content is this one, before folders or external ids were told.

    Files of folders that shared a name had their folders in front of it: `网点-说明.md`.
    """
    if twin.external_id:
        return False
    if twin.filing.folder or not filing.folder:
        return bool(filing.external_id) and twin.path == filing.path
    return twin.path == filing.name or filing.path.replace("/", "-").endswith(twin.path)


def _build_previous(known: DocumentRow | None) -> Previous | None:
    return Previous(known.id, known.path, known.version, known.revision, known.updated_at) if known else None


def _build_unchanged(upload: _Upload, known: DocumentRow) -> FileReport:
    return FileReport(
        path=upload.filing.path,
        outcome=FileOutcome.UNCHANGED,
        document_id=known.id,
        title=known.title,
        chunks=known.chunks,
        revision=known.revision,
        same_as=known.path if known.filing != upload.filing else None,
    )
