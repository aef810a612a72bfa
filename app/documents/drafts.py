"""Versions read for a trial: what would be found if they were published."""

from __future__ import annotations

from collections.abc import Sequence

from cachetools import TTLCache

from app.documents.versions import VersionService
from app.errors import Conflict
from knowledge.ingest import PreparedDocument

# In one trial.
MAX_DRAFTS = 50
# Of all drafts together, and of each since it was read.
_KEPT_BYTES, _KEPT_SECONDS = 64 * 2**20, 600.0


class Drafts:
    """Remembers for a while what it read: a trial is repeated, question after question."""

    def __init__(self, versions: VersionService) -> None:
        self._versions = versions
        self._read: TTLCache[tuple[str, ...], PreparedDocument] = TTLCache(
            _KEPT_BYTES, _KEPT_SECONDS, getsizeof=_measure_size
        )

    async def load_versions(self, tenant: str, keys: Sequence[tuple[str, int]] | None) -> list[PreparedDocument]:
        """Loads versions that are named by document and number; with None the newest unpublished one of every document.

        Raises NotFound, Conflict, KnowledgeError.
        """
        if keys is None:
            waiting, total = await self._versions.rows.load_open(tenant, limit=MAX_DRAFTS)
            if total > MAX_DRAFTS:
                raise Conflict(
                    f"草稿超过 {MAX_DRAFTS} 份，请在 drafts 里写明要试哪几份", code="too_many_drafts", most=MAX_DRAFTS
                )
            newest: dict[str, int] = {}
            for one in waiting:
                newest[one.document_id] = max(one.row.number, newest.get(one.document_id, 0))
            keys = list(newest.items())
        if len(dict(keys)) < len(keys):
            raise Conflict("drafts 里一篇文档只能有一个版本", code="drafts_contradict")
        return [await self._prepare_version(tenant, *key) for key in keys]

    async def _prepare_version(self, tenant: str, document_id: str, number: int) -> PreparedDocument:
        known, stored = await self._versions.find_version(tenant, document_id, number)
        # The revision moves with corrections, which are part of what is read.
        place = tenant, stored.row.id, str(known.revision), known.path, known.category, *known.tags
        if (read := self._read.get(place)) is not None:
            return read
        read = await self._versions.read_again(tenant, known, stored)
        if _measure_size(read) <= _KEPT_BYTES:  # the cache raises ValueError for what is larger than all of it
            self._read[place] = read
        return read


def _measure_size(read: PreparedDocument) -> int:
    """Estimates the bytes of a draft in memory: a token takes as much as four characters."""
    return len(read.content) + sum(4 * len(chunk.text) for chunk in read.chunks) + 16 * sum(map(len, read.tokens))
