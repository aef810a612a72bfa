"""The driver: commits what workers read and embedded, file by file, the way every upload is committed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from app.distributed.files import StoredFile
from app.distributed.pipeline import RayOptions, run_stages
from app.distributed.stages import Row, Work, name_of, read_vectors
from app.documents.types import Change, FileOutcome, FileReport, Incoming, Labels, PublishedFile
from app.settings import Settings
from app.wiring.knowledge import KnowledgeBase
from knowledge.chunking import ChunkOptions
from knowledge.errors import InvalidDocument, Unavailable
from knowledge.extraction import ReadDocument
from knowledge.ingest import DocumentReader
from knowledge.parsing.links import PageLinks
from knowledge.sandbox.wire import decode_reply
from knowledge.sheets import SheetOptions, Spreadsheet
from knowledge.types import FaqColumns


class PreparedReader:
    """A `DocumentReader` that knows what a worker made of the file at hand; all others are read here."""

    def __init__(self, here: DocumentReader) -> None:
        self._here = here
        self._content, self._found = b"", None  # type: bytes, ReadDocument | InvalidDocument | None

    @contextmanager
    def use_result(self, content: bytes, found: ReadDocument | InvalidDocument | None) -> Iterator[None]:
        """Uses a result for a file while the block ingests it."""
        self._content, self._found = content, found
        try:
            yield
        finally:
            self._content, self._found = b"", None

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """See `DocumentReader`."""
        if self._found is None or content is not self._content:
            return await self._here.read(tenant, name, content, options, columns)
        if isinstance(self._found, InvalidDocument):
            raise self._found
        return self._found

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """See `DocumentReader`."""
        return await self._here.read_links(tenant, name, content)

    async def read_sheet(self, tenant: str, name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        """See `DocumentReader`."""
        return await self._here.read_sheet(tenant, name, content, options)


@dataclass(frozen=True, slots=True)
class MassIngestion:
    """base: opened with `reader`. labels: of all files; without a category each has that of its folder.

    A run that was killed is begun again: what it committed is known by path and content, and is neither parsed nor
    embedded once more.
    """

    base: KnowledgeBase
    reader: PreparedReader
    labels: Labels
    change: Change

    async def build_work(
        self, settings: Settings, tenant: str, files: Sequence[StoredFile], columns: FaqColumns | None
    ) -> Work:
        """Builds what the workers need to know."""
        held = [] if self.change.draft else await self.base.documents.list_published(tenant)
        by_path = {one.path: one for one in held}
        same = {file.place: one for file in files if (one := by_path.get(file.place)) and self._has_labels(one, file)}
        known = {place: one.content_hash for place, one in same.items()}
        embedder = (await self.base.generations.get_current(tenant)).engine.name
        contents = frozenset(one.content_hash for one in held)
        return Work(settings, tenant, embedder, tuple(files), known, contents, columns)

    async def run(self, work: Work, options: RayOptions) -> AsyncIterator[FileReport]:
        """Ingests the files and yields a report of each, in the order in which they are done; the index
        follows behind.
        """
        rows = run_stages(work, options)
        while (row := await asyncio.to_thread(next, rows, None)) is not None:
            yield await self._ingest_row(work, row)

    def _get_category(self, file: StoredFile) -> str | None:
        return self.labels.category if self.labels.category is not None else file.category or None

    def _has_labels(self, held: PublishedFile, file: StoredFile) -> bool:
        """Whether it has the labels already that the file would be given."""
        return self._get_category(file) in (None, held.category) and self.labels.tags in (None, held.tags)

    async def _ingest_row(self, work: Work, row: Row) -> FileReport:
        file = work.files[row["number"]]
        if row["error"]:
            return FileReport(file.place, FileOutcome.FAILED, error=Unavailable(row["error"]))
        if row["held"]:
            return FileReport(file.place, FileOutcome.UNCHANGED)
        found = decode_reply(row["parsed"], name_of(work, row)).result if row["parsed"] else None
        if vectors := read_vectors(row):
            await asyncio.to_thread(self.base.embeddings.put_many, vectors)
        labels, content = Labels(self._get_category(file), self.labels.tags), row["content"]
        with self.reader.use_result(content, found if isinstance(found, ReadDocument | InvalidDocument) else None):
            incoming = Incoming(file.place, content, "", labels, work.columns, self.change)
            return await self.base.ingestion.ingest_file(work.tenant, incoming)
