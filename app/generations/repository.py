"""SQL of the generations."""

from __future__ import annotations

from sqlalchemy import select, update

from app.db.base import now
from app.db.engine import Database, insert_into
from app.generations.tables import GenerationRow
from app.generations.types import StoredGeneration


class GenerationRepository:
    """Reads and moves on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load_all(self) -> dict[str, StoredGeneration]:
        """Loads the generation of each tenant whose knowledge base was indexed anew, in one small read that is cheap to
        poll.
        """
        query = select(GenerationRow.tenant_id, GenerationRow.number, GenerationRow.embedder)
        rows = await self._database.fetch(query)
        return {row.tenant_id: StoredGeneration(row.number, row.embedder) for row in rows}

    async def put(self, tenant: str, generation: StoredGeneration) -> bool:
        """Stores a generation in place of the one before it; False if another one took that place meanwhile."""
        values = {"number": generation.number, "embedder": generation.embedder, "since": now()}
        before = (GenerationRow.tenant_id == tenant) & (GenerationRow.number == generation.number - 1)
        async with self._database.write() as connection:
            if generation.number > 1:
                change = update(GenerationRow).where(before).values(values)
            else:
                first = insert_into(connection, GenerationRow).values(tenant_id=tenant, **values)
                change = first.on_conflict_do_nothing()
            return bool((await connection.execute(change)).rowcount)
