"""What the routes of this feature need of the wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from app.http.deps import Wired

if TYPE_CHECKING:
    from app.documents.bin import DocumentBin
    from app.documents.ingestion import IngestionService
    from app.documents.jobs import DocumentJobs
    from app.documents.repository import DocumentRepository
    from app.documents.versions import VersionService
    from app.net.fetcher import Fetcher
    from app.settings import Settings


class Parts(Protocol):
    """What these routes are served by."""

    bin: DocumentBin
    document_jobs: DocumentJobs
    documents: DocumentRepository
    fetcher: Fetcher
    ingestion: IngestionService
    settings: Settings
    versions: VersionService


Wiring = Wired[Parts]
