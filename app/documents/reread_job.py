"""Documents read again from the bytes that were sent, where an older release read them and knew less of them."""

from __future__ import annotations

from typing import Annotated, Any

from loguru import logger
from pydantic import BaseModel, ConfigDict, Field

from app.documents.repository import DocumentRepository
from app.documents.types import Change
from app.documents.versions import VersionService
from app.errors import Conflict, NotFound
from app.jobs.types import JobContext, JobKind
from knowledge.errors import InvalidDocument

KIND = "reread"
REASON = "重新读取"


class RereadOptions(BaseModel):
    """What a run is to do."""

    model_config = ConfigDict(extra="forbid")

    everything: bool = Field(False, description="全部文档都读；不给则只读升级之前导入、还没有按段落种类存的")
    documents: list[Annotated[str, Field(max_length=32)]] = Field(
        [], max_length=200, description="只读这些文档，写编号；不论何时导入的"
    )


class RereadService:
    """Each document becomes a version of its own, so that what was can be rolled back to."""

    def __init__(self, documents: DocumentRepository, versions: VersionService) -> None:
        self._documents = documents
        self._versions = versions

    async def run(self, context: JobContext) -> dict[str, Any]:
        """Runs the job: reads all outdated files again. A file that cannot be read any more stays as it is, and is
        counted.
        """
        tenant, failed = context.tenant, 0
        asked: list[str] = context.parameters["documents"]
        documents = asked or await self._documents.list_outdated(tenant, everything=context.parameters["everything"])
        for number, document_id in enumerate(documents):
            await context.report_progress(number, len(documents))
            try:
                await self._versions.read_published_again(tenant, document_id, Change(reason=REASON))
            except (InvalidDocument, Conflict, NotFound) as error:  # deleted or changed meanwhile, or too big by now
                logger.bind(tenant=tenant, document_id=document_id).warning("a document is not read again: {}", error)
                failed += 1
        return {"documents": len(documents) - failed, "failed": failed}


def build_reread_kind(rereading: RereadService) -> JobKind:
    """Builds the job, which runs on demand alone."""
    return JobKind(KIND, "重新读取文档", rereading.run, None, RereadOptions)
