"""Extracts from a file what depends on its bytes alone: parses it and splits it into chunks, within limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from knowledge.chunking import ChunkOptions, split_document
from knowledge.errors import DocumentTooLarge, EmptyDocument
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.registry import parse
from knowledge.types import Chunk, DocumentMeta, FaqColumns, Notice

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Recogniser


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A title and at least one chunk.

    Ids and document are blank until `label_chunks` sets them: "-0", "-1" … and entries "-q0" … product,
    product_version, dated: see `ParsedDocument`.
    """

    title: str
    chunks: tuple[Chunk, ...]
    notices: tuple[Notice, ...] = ()
    product: str = ""
    product_version: str = ""
    dated: str = ""

    def label_chunks(self, document: DocumentMeta, version_id: str) -> list[Chunk]:
        """Returns the chunks of a version of a document, with the ids that `chunking.split_document` gives."""
        return [
            replace(chunk, id=version_id + chunk.id, entry=version_id + chunk.entry, document=document)
            for chunk in self.chunks
        ]


def read_document(
    name: str,
    content: bytes,
    limits: ParsingLimits,
    options: ChunkOptions,
    columns: FaqColumns | None = None,
    recogniser: Recogniser | None = None,
) -> ReadDocument:
    """Parses a file and splits it into chunks. Blocking and CPU bound.

    Args:
        name: Name of the file.
        content: The file.
        limits: Limits on the file.
        options: Limits on the size of a chunk.
        columns: See `parse`.
        recogniser: See `parse`.

    Raises:
        InvalidDocument: By its subclasses.
        MemoryError: If memory runs out.
    """
    parsed = parse(name, content, limits, columns, recogniser)
    title = parsed.title or PurePath(name).stem
    chunks = tuple(split_document(parsed, DocumentMeta("", name, title), "", options))
    if not chunks:
        raise EmptyDocument(name, "没有可以导入的文字内容")
    indexed = 0
    for number, chunk in enumerate(chunks, start=1):
        indexed += len(chunk.indexed_text)
        if number > limits.max_chunks or indexed > limits.max_indexed_characters:
            raise DocumentTooLarge(name, "切分后的文字过多（标题、问法或答案大量重复），请拆分后再上传")
    return ReadDocument(title, chunks, parsed.notices, parsed.product, parsed.product_version, parsed.dated)
