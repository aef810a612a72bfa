"""What the indexes read of SQL, and where they record how far they followed."""

from __future__ import annotations

import asyncio
from datetime import datetime

from sqlalchemy import func, select, update

from app.db.engine import Database
from app.documents import repository_chunks as chunks
from app.documents import repository_vocabulary as vocabulary
from app.documents.repository_tokens import is_outdated
from app.documents.tables import Document, KbState
from app.documents.types import Difference, IndexDelta, OutdatedTokens, Revisions

_HEADS = select(KbState.tenant_id, KbState.revision, KbState.indexed_revision)


class IndexFeed:
    """Reads what indexes are built from."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_heads(self) -> dict[str, Revisions]:
        """Loads the revisions of all tenants that ever had a document, in one small read that is cheap
        enough to poll.
        """
        rows = await self._database.fetch(_HEADS)
        return {tenant: Revisions(revision, indexed) for tenant, revision, indexed in rows}

    async def load_oldest(self) -> dict[str, datetime]:
        """Tenants that have documents, and since when they have the oldest of these."""
        query = select(Document.tenant_id, func.min(Document.created_at).label("since")).group_by(Document.tenant_id)
        return {row.tenant_id: row.since for row in await self._database.fetch(query)}

    async def load_all(self, tenant: str) -> IndexDelta:
        """Loads everything that an empty index lacks. Raises OutdatedTokens."""
        return await self.load_missing(tenant, lambda live: (live, frozenset()), 0)

    async def load_missing(self, tenant: str, difference: Difference, terms: int) -> IndexDelta:
        """Loads what an index lacks, all as of one moment.

        Args:
            tenant: Whose index.
            difference: Takes the ids of the chunks that belong in the index; returns those that it lacks, and those
                that it has too many.
            terms: How many terms of the vocabulary the index knows; later ones are loaded.

        Raises:
            OutdatedTokens: Not all chunks are cut into terms by the newest vocabulary. No question would find those
                that are not.
        """
        async with self._database.read() as connection:
            head = select(KbState.revision, KbState.vocabulary).where(KbState.tenant_id == tenant)
            revision, words = (await connection.execute(head)).one_or_none() or (0, 0)
            if await connection.run_sync(is_outdated, tenant, words):
                raise OutdatedTokens(tenant)
            live = await chunks.load_live_ids(connection, tenant)
            lacking, surplus = await asyncio.to_thread(difference, live)
            added = await chunks.load_chunks(connection, tenant, lacking)
            new_terms = await vocabulary.load_terms(connection, tenant, terms)
            return IndexDelta(revision, added, surplus, new_terms, words)

    async def set_indexed(self, tenant: str, revision: int) -> None:
        """Records that the index answers from `revision`; never goes back."""
        behind = (KbState.tenant_id == tenant) & (KbState.indexed_revision < revision)
        await self._database.execute(update(KbState).where(behind).values(indexed_revision=revision))
