"""What the indexes read of SQL, and where they record how far they followed."""

from __future__ import annotations

from sqlalchemy import select, update

from app.db.engine import Database
from app.documents import repository_chunks as chunks
from app.documents import repository_vocabulary as vocabulary
from app.documents.tables import KbState
from app.documents.types import IndexDelta, Revisions


class IndexFeed:
    """Reads for whoever keeps indexes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def heads(self) -> dict[str, Revisions]:
        """All tenants that ever had a document; one small read, cheap enough to poll."""
        async with self._database.read() as connection:
            rows = await connection.execute(select(KbState.tenant_id, KbState.revision, KbState.indexed_revision))
            return {tenant: Revisions(revision, indexed) for tenant, revision, indexed in rows}

    async def delta(self, tenant: str, held: frozenset[str], terms: int) -> IndexDelta:
        """What an index with the chunks `held` and the first `terms` terms lacks, all as of one moment."""
        async with self._database.read() as connection:
            head = select(KbState.revision).where(KbState.tenant_id == tenant)
            revision = (await connection.execute(head)).scalar_one_or_none() or 0
            live = await chunks.live_ids(connection, tenant)
            added = await chunks.load(connection, tenant, live - held)
            return IndexDelta(revision, added, held - live, await vocabulary.terms_from(connection, tenant, terms))

    async def set_indexed(self, tenant: str, revision: int) -> None:
        """Records that the index answers from `revision`; never goes back."""
        async with self._database.write() as connection:
            behind = (KbState.tenant_id == tenant) & (KbState.indexed_revision < revision)
            await connection.execute(update(KbState).where(behind).values(indexed_revision=revision))
