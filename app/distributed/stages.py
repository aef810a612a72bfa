"""What workers do with one file after the other: read it, parse it, embed it. Nothing here knows Ray or SQL.

A row says `number` of the file, then what became of it: `content`, `digest`, `held` where the knowledge base has it,
`error` where it cannot be had, `parsed` as `knowledge.sandbox.wire` writes it, `keys` and `vectors` of its chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.distributed.files import StoredFile
from app.retrieval import build_embedder_options, chunk_options
from app.settings import Settings
from app.wiring.reading import open_reader
from knowledge.embeddings.base import make_readable
from knowledge.embeddings.registry import get_embedder
from knowledge.errors import EmbeddingUnavailable, InvalidDocument, Unavailable
from knowledge.extraction import ReadDocument
from knowledge.ingest import hash_content
from knowledge.sandbox.wire import ParsedReply, decode_reply, encode_reply
from knowledge.types import DocumentMeta, FaqColumns

Row = dict[str, Any]
# Of a SHA-256 in hex, and of the keys of vectors.
DIGITS = 64


@dataclass(frozen=True, slots=True)
class Work:
    """What all workers have to know. embedder: that of the tenant's index; known: digests of published documents under
    the paths and labels that their files would get; contents: of all that is published.
    """

    settings: Settings
    tenant: str
    embedder: str
    files: tuple[StoredFile, ...]
    known: Mapping[str, str]
    contents: frozenset[str] = frozenset()
    columns: FaqColumns | None = None


def read(row: Row, work: Work) -> Row:
    """Reads the bytes of a row's file, unless they are known under the same path."""
    file = work.files[row["number"]]
    try:
        content = file.read(work.settings.max_upload_bytes)
    except Exception as error:  # stores raise what they like; one file that cannot be had stops no other
        return _build_row(row["number"], error=f"读不到：{type(error).__name__}: {error}"[:500])
    digest = hash_content(content)
    held = work.columns is None and work.known.get(file.place) == digest
    return _build_row(row["number"], b"" if held else content, digest, held=held)


class Parse:
    """Parses and chunks, in processes of its own that a file may bring down."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._reader = self._runner.run(self._stack.enter_async_context(open_reader(work.settings)))
        embedder = get_embedder(work.embedder, None, build_embedder_options(work.settings))
        self._options = replace(chunk_options(work.settings), tokenizer=embedder.tokenizer_file)

    def __call__(self, row: Row) -> Row:
        if row["held"] or row["error"] or (self._work.columns is None and row["digest"] in self._work.contents):
            return row
        try:
            return row | {"parsed": encode_reply(ParsedReply(self._runner.run(self._parse_file(row)), retires=False))}
        except Unavailable as error:
            return row | {"error": str(error), "content": b""}

    def close(self) -> None:
        """Ends its processes; a worker that is killed ends them too."""
        self._runner.run(self._stack.aclose())
        self._runner.close()

    async def _parse_file(self, row: Row) -> ReadDocument | InvalidDocument:
        work, name = self._work, name_of(self._work, row)
        try:
            return await self._reader.read(work.tenant, name, row["content"], self._options, work.columns)
        except InvalidDocument as error:
            return error


class Embed:
    """Embeds the chunks."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._runner = asyncio.Runner()
        self._embedder = get_embedder(work.embedder, None, build_embedder_options(work.settings))

    def __call__(self, row: Row) -> Row:
        found = decode_reply(row["parsed"], name_of(self._work, row)).result if row["parsed"] else None
        if not isinstance(found, ReadDocument):
            return row
        document = DocumentMeta("", name_of(self._work, row), found.title)
        texts = [chunk.indexed_text for chunk in found.label_chunks(document, "")]
        try:
            vectors = self._runner.run(self._embedder.embed_passages(texts))
        except EmbeddingUnavailable as error:
            return row | {"error": str(error), "content": b"", "parsed": b""}
        keys = "".join(self._embedder.build_key(make_readable(text), "passage") for text in texts)
        return row | {"keys": keys, "vectors": np.asarray(vectors, dtype="<f4").tobytes()}

    def close(self) -> None:
        """Closes the embedder and the event loop that it ran in."""
        self._embedder.close()
        self._runner.close()


def read_vectors(row: Row) -> dict[str, Any]:
    """Returns the vectors of a row's chunks: cache key -> float32 of shape (dimension,)."""
    keys = [row["keys"][start : start + DIGITS] for start in range(0, len(row["keys"]), DIGITS)]
    if not keys:
        return {}
    return dict(zip(keys, np.frombuffer(row["vectors"], dtype="<f4").reshape(len(keys), -1), strict=True))


def name_of(work: Work, row: Row) -> str:
    """Returns the file name of a row's file."""
    return work.files[row["number"]].place.rpartition("/")[2]


def _build_row(number: int, content: bytes = b"", digest: str = "", *, held: bool = False, error: str = "") -> Row:
    """Builds a row; all have the same columns, so that stages can exchange them whatever happened to the file."""
    stages = {"parsed": b"", "keys": "", "vectors": b""}
    return {"number": number, "content": content, "digest": digest, "held": held, "error": error, **stages}
