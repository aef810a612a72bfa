"""Deleting documents: into the bin first, out of which they come back as they were, and for good."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from app.documents.ingestion import build_not_found
from app.documents.repository_labels import PathTaken
from app.errors import Conflict, NotFound

if TYPE_CHECKING:
    from app.documents.ingestion import IngestionService
    from app.documents.repository_bin import BinRepository
    from app.documents.repository_knowledge import KnowledgeRepository


class DocumentBin:
    """Raises NotFound for what is not there, and for what is of another tenant."""

    def __init__(
        self,
        rows: BinRepository,
        knowledge: KnowledgeRepository,
        ingestion: IngestionService,
        days: Callable[[str], Awaitable[int]],
    ) -> None:
        """days: for how long what a tenant deletes can be restored; 0 for ever."""
        self.rows = rows
        self.days = days
        self._knowledge = knowledge
        self._ingestion = ingestion

    async def delete(self, tenant: str, document_id: str, deleted_by: str = "", *, for_good: bool = False) -> bool:
        """Removes a document; True when searches no longer find it. for_good: not into the bin, at once."""
        if for_good:
            revision = await self._knowledge.delete(tenant, document_id)
        else:
            revision = await self.rows.put(tenant, document_id, deleted_by)
        if revision is None:
            raise build_not_found(document_id)
        return await self._ingestion.wait_until_indexed(tenant, revision)

    async def restore_document(self, tenant: str, document_id: str) -> bool:
        """Restores a document with its id and versions; True when searches find it. Raises Conflict where another one
        has its place by now.
        """
        try:
            revision = await self.rows.restore_document(tenant, document_id)
        except PathTaken as error:
            message = f"{error} 已有另一篇文档；先把那一篇移到别的目录或删除，再恢复这一篇"
            raise Conflict(message, code="path_taken", path=str(error)) from error
        if revision is None:
            raise _build_not_in_bin(document_id)
        return await self._ingestion.wait_until_indexed(tenant, revision)

    async def erase_document(self, tenant: str, document_id: str) -> None:
        """Deletes a document in the bin for good."""
        if not await self.rows.erase_document(tenant, document_id):
            raise _build_not_in_bin(document_id)


def _build_not_in_bin(document_id: str) -> NotFound:
    return NotFound(f"回收站里没有编号为 {document_id} 的文档", code="not_in_bin", document_id=document_id)
