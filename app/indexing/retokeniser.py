"""Makes the terms of a knowledge base again where its vocabulary has changed: the index follows once all are there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.documents.types import OutdatedDocument, RenewedDocument
from knowledge.ingest import tokenize_texts
from knowledge.text import Analyzer
from knowledge.vocabulary import find_affected_texts

if TYPE_CHECKING:
    from app.documents.repository_tokens import TokenRepository
    from app.vocabulary.analyzers import TenantAnalyzers


class Retokeniser:
    """Works off the loop and outside of transactions; what changes meanwhile is looked at again."""

    def __init__(self, tokens: TokenRepository, vocabularies: TenantAnalyzers) -> None:
        self._tokens = tokens
        self._vocabularies = vocabularies

    async def renew(self, tenant: str) -> None:
        """Returns once all terms of the tenant are of its newest vocabulary."""
        while (batch := await self._tokens.find_outdated(tenant)) is not None:
            analyzer = await self._vocabularies.load_analyzer(tenant, batch.vocabulary)
            changes: dict[int | None, Callable[[str], bool]] = {None: lambda _: True}
            for version in {document.vocabulary for document in batch.documents}:
                if version is not None:
                    changes[version] = await self._find_changed(tenant, version, batch.vocabulary)
            done = [
                await _renew_document(document, changes[document.vocabulary], analyzer) for document in batch.documents
            ]
            await self._tokens.renew_terms(tenant, batch.vocabulary, done)

    async def _find_changed(self, tenant: str, old: int, new: int) -> Callable[[str], bool]:
        """Tells which texts have other tokens by the one version than by the other."""
        before, after = [await self._vocabularies.load_vocabulary(tenant, version) for version in (old, new)]
        return await asyncio.to_thread(find_affected_texts, before, after)


async def _renew_document(
    document: OutdatedDocument, may_differ: Callable[[str], bool], analyzer: Analyzer
) -> RenewedDocument:
    """Most documents hold none of the words that changed, and to see that takes a tenth of cutting them."""

    def is_different() -> bool:
        return any(may_differ(chunk.indexed_text) for chunk in document.chunks)

    tokens = await tokenize_texts(analyzer, document.chunks) if await asyncio.to_thread(is_different) else None
    return RenewedDocument(document.id, document.chunks, tokens)
