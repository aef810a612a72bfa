"""Reads old Office files: LibreOffice converts them, then the reader for new files takes over. They keep their
names.
"""

from __future__ import annotations

from pathlib import PurePath

from knowledge.chunking import ChunkOptions
from knowledge.conversion.office import OfficeConverter
from knowledge.errors import InvalidDocument, ReaderMissing
from knowledge.extraction import ReadDocument
from knowledge.ingest import DocumentReader
from knowledge.parsing.legacy import MODERN
from knowledge.parsing.links import PageLinks
from knowledge.parsing.registry import MAX_NAME
from knowledge.sheets import SheetOptions, Spreadsheet
from knowledge.types import FaqColumns


class LegacyReader:
    """A `DocumentReader` over another one, which checks the old file first and then reads the new one."""

    def __init__(self, reader: DocumentReader, converter: OfficeConverter) -> None:
        self._reader = reader
        self._converter = converter

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """Reads a file, converting it first if it is of an old Office format.

        Raises:
            ReaderMissing: For an old file if LibreOffice is not installed.
            InvalidDocument: As the other reader does.
        """
        suffix = PurePath(name.strip(" ")).suffix.lower()
        after = MODERN.get(suffix)
        if after is None:
            return await self._reader.read(tenant, name, content, options, columns)
        try:
            return await self._reader.read(tenant, name, content, options, columns)
        except ReaderMissing:
            if not self._converter.is_installed:
                raise
        converted = await self._converter.convert(tenant, name, content, suffix, after)
        renamed = PurePath(name).stem[: MAX_NAME - len(after)] + after
        try:
            return await self._reader.read(tenant, renamed, converted, options, columns)
        except InvalidDocument as error:
            raise type(error)(name, error.reason) from error

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """See `DocumentReader`."""
        return await self._reader.read_links(tenant, name, content)

    async def read_sheet(self, tenant: str, name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        """See `DocumentReader`."""
        return await self._reader.read_sheet(tenant, name, content, options)
