"""Curated answers as searches find them: one document an entry, one chunk a way to ask it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence

from agents.understanding.reading import read
from app.faqs.types import FaqDraft
from knowledge.ingest import EmbedderOf, Ingestor, PreparedDocument, hash_content
from knowledge.types import Chunk, DocumentMeta

MEDIA_TYPE = "application/json"


class EntryPreparer:
    """Tokens and embeddings of entries, made before the transaction that stores them."""

    def __init__(self, ingestor: Ingestor, embedder_of: EmbedderOf) -> None:
        self._ingestor = ingestor
        self._embedder_of = embedder_of

    async def prepare(self, tenant: str, entries: Mapping[str, FaqDraft]) -> list[PreparedDocument]:
        """Entries by their ids, as documents; nothing is embedded."""
        chunks = {id: _build_chunks(id, entry) for id, entry in entries.items()}
        made = await self._ingestor.tokenize_chunks(tenant, [chunk for each in chunks.values() for chunk in each])
        tokens = iter(made.tokens)
        return [_build_document(entry, chunks[id], tokens, made.vocabulary) for id, entry in entries.items()]

    async def embed(self, tenant: str, documents: Sequence[PreparedDocument]) -> None:
        """Embeds the chunks of entries and their wordings, in the spelling of questions, into the cache. Raises
        EmbeddingUnavailable.
        """
        chunks = [chunk for document in documents for chunk in document.chunks]
        embedder = await self._embedder_of(tenant)
        await embedder.embed_passages([chunk.indexed_text for chunk in chunks])
        await embedder.embed_questions([read(chunk.question).normalized_text for chunk in chunks if chunk.question])


def _build_chunks(id: str, entry: FaqDraft) -> list[Chunk]:
    meta, version = DocumentMeta(id, entry.question, entry.question), secrets.token_hex(8)
    return [
        Chunk(f"{version}-{number}", meta, number, entry.answer, question=wording, entry=f"{version}-q0")
        for number, wording in enumerate(entry.wordings)
    ]


def _build_document(
    entry: FaqDraft, chunks: Sequence[Chunk], tokens: Iterator[tuple[str, ...]], vocabulary: int
) -> PreparedDocument:
    written = {"question": entry.question, "answer": entry.answer, "variants": entry.variants}
    content = json.dumps(written, ensure_ascii=False).encode()
    return PreparedDocument(
        document=chunks[0].document,
        version_id=chunks[0].id.rpartition("-")[0],
        media_type=MEDIA_TYPE,
        content=content,
        content_hash=hash_content(content),
        chunks=tuple(chunks),
        tokens=tuple(next(tokens) for _ in chunks),
        vocabulary=vocabulary,
    )
