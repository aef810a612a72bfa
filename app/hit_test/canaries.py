"""The search of a tenant with drafts in it, as if they were published."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.documents.drafts import Drafts
from app.errors import Conflict
from app.hit_test.trial import Expected, Stored
from app.search.service import CalibratedSearch
from app.tenants import Tenants
from knowledge.canary import CanaryIndex, Replacement
from knowledge.index import Snapshot, has_vectors
from knowledge.ingest import PreparedDocument, tokenize_texts


@dataclass(frozen=True, slots=True)
class TrialSearch:
    """A search that sees drafts, and what these are."""

    search: CalibratedSearch
    drafts: tuple[PreparedDocument, ...]

    @property
    def snapshot(self) -> Snapshot:
        """The view with the drafts in it."""
        return self.search.index.get_snapshot()

    def find_stored(self, expected: Expected) -> Stored | None:
        """Returns what was expected and is part of a draft; None if no draft contains it."""
        for draft in self.drafts:
            pieces = {chunk.id: chunk.entry for chunk in draft.chunks}
            entry = pieces.get(expected.chunk_id)
            if expected.document_id in ("", draft.document.id) and (entry or not expected.chunk_id):
                chunks = frozenset(each for each, of in pieces.items() if entry in (None, of))
                return Stored(draft.document, chunks, True, None, None)
        return None


class Canaries:
    """Puts drafts into views of the tenants' indexes."""

    def __init__(self, tenants: Tenants, drafts: Drafts) -> None:
        self._tenants = tenants
        self._drafts = drafts

    async def open_trial(self, tenant: str, keys: Sequence[tuple[str, int]] | None) -> TrialSearch:
        """keys: see `Drafts.load_versions`. Raises NotFound, Conflict, KnowledgeError."""
        found = tuple(await self._drafts.load_versions(tenant, keys))
        if not found:
            raise Conflict("没有还没发布的草稿可试", code="no_drafts")
        retriever = (await self._tenants.get_parts(tenant)).retriever
        base = retriever.index.get_snapshot()
        if not len(base):
            message = "知识库里还没有已发布的文档，门槛无从校准；请先发布一篇，再来试草稿"
            raise Conflict(message, code="empty_knowledge_base")
        versions = [await _build_replacement(draft, base, retriever) for draft in found]
        view = CanaryIndex(retriever.index, versions)
        await asyncio.to_thread(view.get_snapshot)  # looks at every chunk of the base, once
        return TrialSearch(retriever.create_view(view), found)


async def _build_replacement(found: PreparedDocument, base: Snapshot, retriever: CalibratedSearch) -> Replacement:
    """Builds the replacement in the terms and vectors of the base; the draft may have been read by another analyzer."""
    analyzer, embedder = retriever.analyzer, retriever.generation.embedder
    same = found.vocabulary == analyzer.version
    tokens = found.tokens if same else await tokenize_texts(analyzer, found.chunks)
    texts = [chunk.indexed_text for chunk in found.chunks]
    vectors = await embedder.embed_passages(texts) if has_vectors(base) else np.zeros((len(texts), 0), np.float32)
    return Replacement(found.document, found.chunks, tokens, vectors)
