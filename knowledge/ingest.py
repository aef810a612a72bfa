"""From the bytes of a file to what the knowledge base stores of it: parse, chunk, tokenise, embed."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from knowledge.chunking import ChunkOptions
from knowledge.embeddings.base import Embedder
from knowledge.parsing.limits import ParsingLimits
from knowledge.reading import ReadDocument, read
from knowledge.text import Analyzer
from knowledge.types import Chunk, DocumentMeta, FaqColumns, Notice

MAX_TERM_CHARS = 128
"""Longer tokens (pasted base64, for example) are not indexed: nobody asks for them and databases bound index keys."""

_TOKENISE_BATCH = 64
"""Chunks per thread call, so that other work gets its turn in between."""

_MEDIA_TYPES = mimetypes.MimeTypes()

Progress = Callable[[str, int, int], None]
"""Called with file name, chunks done and chunks in all, whenever one is embedded."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The ids and labels that the caller gives a file. Ids are new ones: an id never names two contents."""

    document_id: str
    version_id: str
    category: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """All that one commit stores. `tokens` belong to `chunks`, one to one; there is at least one chunk.

    The embeddings are in the embedder's cache, from where whoever updates the index takes them.
    """

    document: DocumentMeta
    version_id: str
    media_type: str
    content: bytes
    content_hash: str
    chunks: tuple[Chunk, ...]
    tokens: tuple[tuple[str, ...], ...]
    notices: tuple[Notice, ...] = ()


class DocumentReader(Protocol):
    """Makes a title and chunks of a file's bytes."""

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """`columns`: where a table holds questions and answers; None finds out. Raises InvalidDocument by subclass."""
        ...


class TrustingReader:
    """Reads in a thread of this process: for files of one's own. Strangers' files go to `knowledge.sandbox`."""

    def __init__(self, limits: ParsingLimits | None = None) -> None:
        self._limits = limits or ParsingLimits()

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """See `DocumentReader`."""
        return await asyncio.to_thread(read, name, content, self._limits, options, columns)


class Ingestor:
    """The pipeline, without storage. CPU work runs off the loop; embedding gives way to customers' questions."""

    def __init__(
        self,
        embedder: Embedder,
        analyzer: Analyzer,
        options: ChunkOptions | None = None,
        reader: DocumentReader | None = None,
    ) -> None:
        self._embedder = embedder
        self._analyzer = analyzer
        self._options = options or ChunkOptions()
        self._reader = reader or TrustingReader()

    async def prepare(
        self,
        tenant: str,
        name: str,
        content: bytes,
        identity: Identity,
        progress: Progress | None = None,
        *,
        columns: FaqColumns | None = None,
        embed: bool = True,
    ) -> PreparedDocument:
        """Raises InvalidDocument (by its subclasses) and EmbeddingUnavailable; stores nothing but embeddings.

        columns: see `DocumentReader`. embed: False leaves the embeddings to whoever updates the index.
        """
        options = replace(self._options, tokenizer=self._embedder.tokenizer_file)
        found = await self._reader.read(tenant, name, content, options, columns)
        document = DocumentMeta(identity.document_id, name, found.title, identity.category, identity.tags)
        chunks = found.labelled(document, identity.version_id)
        tokens = await self.tokenise(chunks)
        if embed:
            await self._embed(name, chunks, progress)
        return PreparedDocument(
            document=document,
            version_id=identity.version_id,
            media_type=_MEDIA_TYPES.guess_type(name)[0] or "application/octet-stream",
            content=content,
            content_hash=await asyncio.to_thread(content_hash, content),
            chunks=tuple(chunks),
            tokens=tuple(tokens),
            notices=found.notices,
        )

    async def tokenise(self, chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
        """Tokens of every chunk's `indexed_text`, in that order."""
        tokens: list[tuple[str, ...]] = []
        for start in range(0, len(chunks), _TOKENISE_BATCH):
            tokens += await asyncio.to_thread(self._tokens, chunks[start : start + _TOKENISE_BATCH])
        return tokens

    def _tokens(self, chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
        return [
            tuple(token for token in self._analyzer.tokens(chunk.indexed_text) if len(token) <= MAX_TERM_CHARS)
            for chunk in chunks
        ]

    async def _embed(self, name: str, chunks: Sequence[Chunk], progress: Progress | None) -> None:
        done = 0

        def step(count: int) -> None:
            nonlocal done
            done += count
            if progress is not None:
                progress(name, done, len(chunks))

        await self._embedder.passages([chunk.indexed_text for chunk in chunks], step)


def content_hash(content: bytes) -> str:
    """SHA-256 of a file, in hex: what makes ingestion idempotent."""
    return hashlib.sha256(content).hexdigest()
