"""Reads pictures and scanned pages in a second pass, by workers that have the recognition models in memory."""

from __future__ import annotations

from dataclasses import replace

from knowledge.chunking import ChunkOptions
from knowledge.errors import InvalidDocument, ReaderMissing, ScannedDocument
from knowledge.extraction import ReadDocument
from knowledge.ingest import DocumentReader
from knowledge.parsing.links import PageLinks
from knowledge.recognition.rapid import REQUIREMENTS, is_installed
from knowledge.sheets import SheetOptions, Spreadsheet
from knowledge.types import FaqColumns, Notice, NoticeCode


class ScanReader:
    """A `DocumentReader` over two readers: the first reads all files, the second those that show what the first cannot
    read.

    recognising: the second one; None if pictures are not to be read.
    """

    def __init__(self, plain: DocumentReader, recognising: DocumentReader | None) -> None:
        self._plain = plain
        self._recognising = recognising

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """Reads a file, again with recognition if it shows what the first reader cannot read.

        Raises:
            ReaderMissing: If the file has only pictures and the package is not installed.
            InvalidDocument, ParsingUnavailable: As `Sandbox.read` does.
        """
        try:
            found = await self._plain.read(tenant, name, content, options, columns)
        except ScannedDocument as error:
            if self._recognising is None:
                raise
            if not is_installed():
                raise _report_missing(error) from error
            return await self._recognising.read(tenant, name, content, options, columns)
        if self._recognising is None or not any(map(_is_unread, found.notices)):
            return found
        try:
            if not is_installed():
                raise _report_missing(ScannedDocument(name, "里有的页是扫描件，要做文字识别（OCR）才能读出文字"))
            return await self._recognising.read(tenant, name, content, options, columns)
        except InvalidDocument as error:  # what has been read of it stays
            notice = Notice(NoticeCode.PARTS_NOT_READ, f"没有做文字识别：{error}")
            return replace(found, notices=(*found.notices, notice))

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """See `DocumentReader`."""
        return await self._plain.read_links(tenant, name, content)

    async def read_sheet(self, tenant: str, name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        """See `DocumentReader`."""
        return await self._plain.read_sheet(tenant, name, content, options)


def _is_unread(notice: Notice) -> bool:
    return notice.code is NoticeCode.PAGES_WITHOUT_TEXT


def _report_missing(error: ScannedDocument) -> ReaderMissing:
    fix = f"请管理员安装后重新上传：pip install -r {REQUIREMENTS}"
    return ReaderMissing(error.name, f"{error.reason}；服务器上还没有装文字识别组件，{fix}")
