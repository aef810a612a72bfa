"""How strangers' files are read: in processes of their own, pictures and scanned pages by those that recognise, old
Office files once they are converted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from app.retrieval import build_recognising_options, build_sandbox_options
from app.settings import Settings
from knowledge.conversion.office import OfficeConverter
from knowledge.conversion.reader import LegacyReader
from knowledge.ingest import DocumentReader
from knowledge.parsing.limits import ParsingLimits
from knowledge.sandbox.pool import Sandbox
from knowledge.sandbox.scans import ScanReader


@asynccontextmanager
async def open_reader(settings: Settings) -> AsyncIterator[DocumentReader]:
    """Processes start with the first file and end with the block."""
    limits = ParsingLimits(max_bytes=settings.max_upload_bytes, max_recognised_pages=settings.ocr_max_pages)
    async with AsyncExitStack() as stack:
        plain = Sandbox(limits, build_sandbox_options(settings))
        stack.push_async_callback(plain.close)
        recognising = Sandbox(limits, build_recognising_options(settings)) if settings.ocr_max_pages else None
        if recognising is not None:
            stack.push_async_callback(recognising.close)
        converter = OfficeConverter(settings.soffice_path, settings.soffice_max_seconds, limits.max_bytes)
        stack.push_async_callback(converter.close)
        yield LegacyReader(ScanReader(plain, recognising), converter)
