"""Attachments, put together from settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.attachments.repository import AttachmentRepository
from app.attachments.scanner import open_scanner
from app.attachments.service import AttachmentLimits, AttachmentService
from app.attachments.store import open_store
from app.retrieval import build_recognising_options, build_sandbox_options
from knowledge.parsing.limits import ParsingLimits
from knowledge.recognition.rapid import is_installed
from knowledge.sandbox.pool import Sandbox

if TYPE_CHECKING:
    from app.db.engine import Database
    from app.settings import Settings


def build_attachment_service(settings: Settings, database: Database) -> AttachmentService:
    """Builds the service of attachments. Its own processes read what is sent, so that a large import keeps no customer
    waiting; they start with the first file. Raises MissingDependency.
    """
    limits = ParsingLimits(max_bytes=settings.attachment_max_bytes, max_recognised_pages=1)
    seconds = settings.attachment_ocr_seconds
    recognises = bool(seconds and settings.ocr_max_pages and is_installed())
    options = replace(build_recognising_options(settings), seconds=seconds)
    return AttachmentService(
        AttachmentRepository(database),
        open_store(settings.attachment_store, settings.attachment_options, settings.data_dir),
        open_scanner(settings.attachment_scanner, settings.attachment_scan_timeout),
        Sandbox(limits, replace(build_sandbox_options(settings), workers=2)),
        Sandbox(limits, options) if recognises else None,
        AttachmentLimits(settings.attachments_per_conversation, settings.attachments_bytes_per_conversation),
    )
