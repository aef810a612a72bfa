"""Corrections of single chunks: each is one transaction, and embeds nothing but what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.corrections import repository
from app.corrections.merge import edit_chunk
from app.corrections.types import ChunkCorrection, ChunkEdit, LocatedCorrection, OriginalPassage
from app.db.base import now
from app.db.engine import Database
from app.documents.types import PieceGone, RewrittenPieces, StoredPiece
from app.errors import Conflict, NotFound
from app.ids import create_id
from knowledge.errors import EmbeddingUnavailable
from knowledge.ingest import EmbedderOf, Ingestor
from knowledge.types import CorrectionState

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.documents.repository_chunk_edits import ChunkEditRepository
    from app.index_follower import Follower


@dataclass(frozen=True, slots=True)
class CorrectionMade:
    """chunk_id: under which the chunk is found from now on; correction: None where it is as it was read again;
    revision: that searches have to reach, 0 where nothing changed.
    """

    chunk_id: str
    correction: ChunkCorrection | None
    revision: int


class CorrectionService:
    """wait_seconds: how long a change waits until searches know it."""

    def __init__(
        self,
        database: Database,
        chunks: ChunkEditRepository,
        ingestor: Ingestor,
        embedder_of: EmbedderOf,
        follower: Follower,
        wait_seconds: float,
    ) -> None:
        self._database = database
        self._chunks = chunks
        self._ingestor = ingestor
        self._embedder_of = embedder_of
        self._follower = follower
        self._wait_seconds = wait_seconds

    async def list_of_document(self, tenant: str, document_id: str) -> list[ChunkCorrection]:
        """Lists all corrections of a document, in its order."""
        return await self._database.run_in_reader(repository.list_of_document, tenant, document_id)

    async def load_page(
        self, tenant: str, state: CorrectionState | None, offset: int, limit: int
    ) -> tuple[list[LocatedCorrection], int]:
        """Returns a page of corrections of all documents, those changed last first, and their total number."""
        return await self._database.run_in_reader(repository.load_page, tenant, state, offset, limit)

    async def put(
        self, tenant: str, document_id: str, chunk_id: str, edit: ChunkEdit, author: str, reason: str
    ) -> CorrectionMade:
        """Makes a chunk what it is to be, and every other wording of its question; an edit that says nothing leaves it
        as it was read. Raises NotFound, Conflict, EmbeddingUnavailable.
        """
        pieces = await self._chunks.load_entry(tenant, document_id, chunk_id=chunk_id)
        if not pieces:
            message = "没有这个片段；它可能刚刚被改过，请刷新后再试"
            raise NotFound(message, code="chunk_not_found", document_id=document_id, chunk_id=chunk_id)
        known = await self._get(tenant, document_id, pieces[0].correction) if pieces[0].correction else None
        original = known.original if known else _build_original(pieces[0])
        edit = _remove_unchanged(edit, original)
        if not edit and known is None:
            return CorrectionMade(chunk_id, None, 0)
        if edit.excluded and not pieces[0].excluded:
            await self._keep_one(tenant, document_id, len(pieces))
        return await self._write(
            tenant, pieces, _build_correction(document_id, known, original, edit, author, reason), edit
        )

    async def drop(self, tenant: str, document_id: str, correction_id: str) -> CorrectionMade:
        """Takes a correction back: its chunk is as it was read. Raises NotFound, Conflict, EmbeddingUnavailable."""
        known = await self._get(tenant, document_id, correction_id)
        if known is None:
            message = "没有这条修正，可能已被撤销"
            raise NotFound(message, code="correction_not_found", document_id=document_id, correction_id=correction_id)
        pieces = await self._chunks.load_entry(tenant, document_id, correction=correction_id)
        if pieces:
            return await self._write(tenant, pieces, known, ChunkEdit())
        await self._chunks.run_alone(tenant, lambda connection: repository.drop(connection, tenant, correction_id))
        return CorrectionMade("", None, 0)

    async def wait_until_known(self, tenant: str, made: CorrectionMade) -> bool:
        """Whether searches know of a change, within the time that one waits for it."""
        return made.revision == 0 or await self._follower.wait_for_revision(tenant, made.revision, self._wait_seconds)

    async def _write(
        self, tenant: str, pieces: Sequence[StoredPiece], correction: ChunkCorrection, edit: ChunkEdit
    ) -> CorrectionMade:
        """edit: empty takes the correction back."""
        old = correction.original
        full = ChunkEdit(
            old.text if edit.text is None else edit.text,
            old.heading_path if edit.heading_path is None else edit.heading_path,
            edit.excluded,
        )
        chunks = tuple(edit_chunk(piece.chunk, full) for piece in pieces)
        tokenised = await self._ingestor.tokenize_chunks(tenant, chunks)
        if not edit.excluded:
            await self._embed(tenant, [chunk.indexed_text for chunk in chunks])
        kept = correction.id if edit else ""
        rewritten = RewrittenPieces(chunks, tokenised.tokens, tokenised.vocabulary, edit.excluded, kept)

        def write_correction(connection: Connection, _: int) -> None:
            if edit:
                repository.put(connection, tenant, correction)
            else:
                repository.drop(connection, tenant, correction.id)

        try:
            revision, chunk_id = await self._chunks.rewrite_chunks(
                tenant, correction.document_id, rewritten, write_correction
            )
        except PieceGone as error:
            message = "这篇文档或这个片段刚刚被改过，请刷新后再试"
            raise Conflict(message, code="version_conflict", document_id=correction.document_id) from error
        return CorrectionMade(chunk_id, correction if edit else None, revision)

    async def _get(self, tenant: str, document_id: str, correction_id: str) -> ChunkCorrection | None:
        return await self._database.run_in_reader(repository.get, tenant, document_id, correction_id)

    async def _keep_one(self, tenant: str, document_id: str, pieces: int) -> None:
        if await self._chunks.count_visible(tenant, document_id) <= pieces:
            message = "这是这篇文档里最后一个还在用的片段；整篇都不要了，请删除文档或给它设失效时间"
            raise Conflict(message, code="last_chunk", document_id=document_id)

    async def _embed(self, tenant: str, texts: Sequence[str]) -> None:
        """Embeds texts into the cache, before anything is written; does nothing if no text of the tenant has
        embeddings.
        """
        try:
            await (await self._embedder_of(tenant)).embed_passages(list(texts))
        except EmbeddingUnavailable:
            if not await self._follower.is_keywords_only(tenant):
                raise


def _build_original(piece: StoredPiece) -> OriginalPassage:
    chunk = piece.chunk
    return OriginalPassage(chunk.text, chunk.heading_path, chunk.question, chunk.ordinal)


def _remove_unchanged(edit: ChunkEdit, original: OriginalPassage) -> ChunkEdit:
    """Returns an edit without the parts that are as they were read."""
    text = None if edit.text == original.text else edit.text
    heading = None if edit.heading_path == original.heading_path else edit.heading_path
    return ChunkEdit(text, heading, edit.excluded)


def _build_correction(
    document_id: str,
    known: ChunkCorrection | None,
    original: OriginalPassage,
    edit: ChunkEdit,
    author: str,
    reason: str,
) -> ChunkCorrection:
    moment = now()
    if known is None:
        known = ChunkCorrection(
            create_id(), document_id, original, edit, author, reason, CorrectionState.APPLIED, moment, moment
        )
    state = CorrectionState.APPLIED
    return replace(known, edit=edit, author=author, reason=reason, state=state, updated_at=moment)
