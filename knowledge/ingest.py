"""The ingestion pipeline: parses, chunks, tokenises and embeds a file into what the knowledge base stores of it."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from knowledge.chunking import ChunkOptions
from knowledge.embeddings.base import Embedder
from knowledge.extraction import ReadDocument, read_document
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.links import PageLinks, read_page_links
from knowledge.sheets import SheetOptions, Spreadsheet, read_sheet
from knowledge.text import Analyzer
from knowledge.types import Chunk, CorrectedChunks, DocumentMeta, FaqColumns, Notice
from knowledge.versions import find_product, find_version, normalize_version

# Longer tokens (pasted base64, for example) are not indexed: nobody asks for them and databases bound index keys.
MAX_TERM_CHARS = 128

# Chunks per thread call, so that other work gets its turn in between.
_TOKENISE_BATCH = 64

# Every section stays one piece, whose lines are its paragraphs.
_WHOLE_SECTIONS = ChunkOptions(min_tokens=1, max_tokens=10**9, overlap_tokens=0)
_MEDIA_TYPES = mimetypes.MimeTypes()

# Called with file name, chunks done and chunks in all, whenever one is embedded.
Progress = Callable[[str, int, int], None]

# Gives the embedder of a tenant's index.
EmbedderOf = Callable[[str], Awaitable[Embedder]]

# Gives the analyzer of a tenant's newest vocabulary.
AnalyzerOf = Callable[[str], Awaitable[Analyzer]]


@dataclass(frozen=True, slots=True)
class Identity:
    """The ids and labels that the caller gives to a file. Ids are new: an id never names two contents.

    product, product_version: None leaves them to the file, its title, its name and its folder.
    """

    document_id: str
    version_id: str
    category: str = ""
    tags: tuple[str, ...] = ()
    folder: str = ""
    product: str | None = None
    product_version: str | None = None

    def describe(self, name: str, found: ReadDocument) -> DocumentMeta:
        """Builds the metadata of the document that a file of this name becomes."""
        product, version = self.product, self.product_version
        if product is None:
            product = found.product or find_product(found.title, self.folder)
        if version is None:
            version = normalize_version(found.product_version) or find_version(found.title, name, self.folder)
        filing = self.category, self.tags, self.folder
        return DocumentMeta(self.document_id, name, found.title, *filing, product, version, found.dated)


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """Everything that one commit stores; the embeddings are in the embedder's cache, where the index takes them from.

    tokens: one for each of the `chunks`, of which there is at least one; vocabulary: version of the tenant's vocabulary
    that made them; columns: where its tables were said to hold questions and answers; corrected: the corrections that
    people made, None if nobody could.
    """

    document: DocumentMeta
    version_id: str
    media_type: str
    content: bytes
    content_hash: str
    chunks: tuple[Chunk, ...]
    tokens: tuple[tuple[str, ...], ...]
    notices: tuple[Notice, ...] = ()
    columns: FaqColumns | None = None
    vocabulary: int = 0
    corrected: CorrectedChunks | None = None

    @property
    def size(self) -> int:
        """Number of chunks that the document was split into, including those that are not searched."""
        return len(self.chunks) + (len(self.corrected.excluded) if self.corrected else 0)


@dataclass(frozen=True, slots=True)
class Tokenised:
    """The tokens of several chunks, and the version of the tenant's vocabulary that produced them."""

    tokens: tuple[tuple[str, ...], ...]
    vocabulary: int


class DocumentReader(Protocol):
    """Reads the bytes of a file into a title and chunks."""

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """Reads a document.

        Args:
            tenant: Whose file it is.
            name: Name of the file; its suffix tells the format.
            content: The file.
            options: Limits on the size of a chunk.
            columns: Which columns of a table hold questions and answers; None to detect them.

        Raises:
            InvalidDocument: By its subclasses.
        """
        ...

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """Returns where an HTML page leads.

        Raises:
            InvalidDocument: By its subclasses.
        """
        ...

    async def read_sheet(self, tenant: str, name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        """Returns the table of a CSV or XLSX file.

        Raises:
            InvalidDocument: By its subclasses.
        """
        ...


class Corrector(Protocol):
    """Knows the corrections that people made to documents."""

    async def apply_corrections(self, tenant: str, document_id: str, chunks: Sequence[Chunk]) -> CorrectedChunks:
        """Returns the chunks of a document, as it was just read, with its corrections applied."""
        ...


class Uncorrected:
    """A `Corrector` for where nothing is corrected."""

    async def apply_corrections(self, tenant: str, document_id: str, chunks: Sequence[Chunk]) -> CorrectedChunks:
        """See `Corrector`."""
        return CorrectedChunks(tuple(chunks))


class TrustingReader:
    """Reads files in a thread of this process: for trusted files only. Strangers' files go to `knowledge.sandbox`."""

    def __init__(self, limits: ParsingLimits | None = None) -> None:
        self._limits = limits or ParsingLimits()

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """See `DocumentReader`."""
        return await asyncio.to_thread(read_document, name, content, self._limits, options, columns)

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """See `DocumentReader`."""
        return await asyncio.to_thread(read_page_links, name, content)

    async def read_sheet(self, tenant: str, name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
        """See `DocumentReader`."""
        return await asyncio.to_thread(read_sheet, name, content, options)


class Ingestor:
    """The pipeline without storage. CPU work runs off the event loop; embedding waits for customers' questions."""

    def __init__(
        self,
        embedder_of: EmbedderOf,
        analyzer: Analyzer,
        options: ChunkOptions | None = None,
        reader: DocumentReader | None = None,
        analyzer_of: AnalyzerOf | None = None,
        corrector: Corrector | None = None,
    ) -> None:
        """analyzer: of tenants without a vocabulary; analyzer_of: of each tenant, where they have one."""
        self._corrector = corrector or Uncorrected()
        self._embedder_of = embedder_of
        self._analyzer = analyzer
        self._analyzer_of = analyzer_of
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
        """Runs the pipeline over one file. Stores nothing but embeddings, in the embedder's cache.

        Args:
            tenant: Whose file it is.
            name: Name of the file.
            content: The file.
            identity: Ids and labels for the document.
            progress: Called with the name, the chunks done and all chunks.
            columns: See `DocumentReader.read`.
            embed: False leaves the embeddings to the process that updates the index.

        Raises:
            InvalidDocument: By its subclasses.
            EmbeddingUnavailable: If the embedder is out of reach.
        """
        embedder = await self._embedder_of(tenant)
        options = replace(self._options, tokenizer=embedder.tokenizer_file)
        found = await self._reader.read(tenant, name, content, options, columns)
        document = identity.describe(name, found)
        labelled = found.label_chunks(document, identity.version_id)
        corrected = await self._corrector.apply_corrections(tenant, document.id, labelled)
        chunks = corrected.chunks
        tokenised = await self.tokenize_chunks(tenant, chunks)
        if embed:
            await _embed_chunks(embedder, name, chunks, progress)
        return PreparedDocument(
            document=document,
            version_id=identity.version_id,
            media_type=_MEDIA_TYPES.guess_type(name)[0] or "application/octet-stream",
            content=content,
            content_hash=await asyncio.to_thread(hash_content, content),
            chunks=chunks,
            tokens=tokenised.tokens,
            notices=found.notices,
            vocabulary=tokenised.vocabulary,
            columns=columns,
            corrected=corrected,
        )

    async def preview(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        """Reads a file as `prepare` would, with the given sizes of chunks, and stores nothing.

        Raises:
            InvalidDocument: By its subclasses.
        """
        embedder = await self._embedder_of(tenant)
        return await self._reader.read(
            tenant, name, content, replace(options, tokenizer=embedder.tokenizer_file), columns
        )

    async def list_paragraphs(
        self, tenant: str, name: str, content: bytes, columns: FaqColumns | None = None
    ) -> tuple[str, ...]:
        """Lists what is read of a file, in order: headings where they change, paragraphs, questions with their answers.

        Raises:
            InvalidDocument: By its subclasses.
        """
        found = await self._reader.read(tenant, name, content, _WHOLE_SECTIONS, columns)
        return tuple(_list_paragraphs(found.chunks))

    async def read_links(self, tenant: str, name: str, content: bytes) -> PageLinks:
        """Returns where an HTML page leads.

        Raises:
            InvalidDocument: By its subclasses.
            Unavailable: If no process can read it now.
        """
        return await self._reader.read_links(tenant, name, content)

    async def tokenize_chunks(self, tenant: str, chunks: Sequence[Chunk]) -> Tokenised:
        """Tokenises the `indexed_text` of every chunk with the tenant's newest vocabulary."""
        analyzer = await self._analyzer_of(tenant) if self._analyzer_of else self._analyzer
        return Tokenised(await tokenize_texts(analyzer, chunks), analyzer.version)


async def _embed_chunks(embedder: Embedder, name: str, chunks: Sequence[Chunk], progress: Progress | None) -> None:
    done = 0

    def report_step(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(name, done, len(chunks))

    await embedder.embed_passages([chunk.indexed_text for chunk in chunks], report_step)


async def tokenize_texts(analyzer: Analyzer, chunks: Sequence[Chunk]) -> tuple[tuple[str, ...], ...]:
    """Tokenises the `indexed_text` of every chunk, in their order, off the event loop."""

    def tokenize_part(part: Sequence[Chunk]) -> list[tuple[str, ...]]:
        return [
            tuple(token for token in analyzer.tokenize(chunk.indexed_text) if len(token) <= MAX_TERM_CHARS)
            for chunk in part
        ]

    found: list[tuple[str, ...]] = []
    for start in range(0, len(chunks), _TOKENISE_BATCH):
        found += await asyncio.to_thread(tokenize_part, chunks[start : start + _TOKENISE_BATCH])
    return tuple(found)


def _list_paragraphs(chunks: Iterable[Chunk]) -> Iterator[str]:
    above: tuple[str, ...] = ()
    for chunk in chunks:
        if chunk.heading_path != above:
            above = chunk.heading_path
            yield " > ".join(above)
        if chunk.question is not None:
            yield f"{chunk.question}\n{chunk.text}"
        else:
            yield from (line for line in chunk.text.split("\n") if line.strip())


def hash_content(content: bytes) -> str:
    """Returns the SHA-256 of a file in hex, by which a file that is sent again is recognised."""
    return hashlib.sha256(content).hexdigest()
