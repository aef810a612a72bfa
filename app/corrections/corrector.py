"""Corrections, for whoever prepares a document."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.corrections import repository
from app.corrections.merge import apply_corrections
from app.db.engine import Database
from knowledge.types import Chunk, CorrectedChunks


class StoredCorrections:
    """See `knowledge.ingest.Corrector`. Comparing goes on off the loop."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply_corrections(self, tenant: str, document_id: str, chunks: Sequence[Chunk]) -> CorrectedChunks:
        """Returns the chunks of a document as it was read, with its present corrections applied."""
        there = await self._database.run_in_reader(repository.list_of_document, tenant, document_id)
        if not there:
            return CorrectedChunks(tuple(chunks))
        return await asyncio.to_thread(apply_corrections, there, chunks, repository.hash_corrections(there))
