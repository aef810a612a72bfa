"""What prompts said when answers were written from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from app.db.base import now
from app.db.engine import Database, insert_into
from app.prompts.tables import StoredPrompt


@dataclass(frozen=True, slots=True)
class PromptText:
    """One version of a prompt; created_at: of its first answer."""

    name: str
    version: str
    text: str
    created_at: datetime


def keep(connection: Connection, texts: Iterable[tuple[str, str, str]]) -> None:
    """Stores texts, each once. texts: name, version and text."""
    rows = [
        {"name": name, "version": version, "text": text, "created_at": now()}
        for name, version, text in sorted(set(texts))
    ]
    if rows:
        connection.execute(insert_into(connection, StoredPrompt).on_conflict_do_nothing(), rows)


class PromptRepository:
    """Of all tenants."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_history(self, name: str, most: int) -> Sequence[PromptText]:
        """Lists the versions of a prompt that answers were written from, the newest first."""
        table = StoredPrompt
        query = (
            select(table.name, table.version, table.text, table.created_at)
            .where(table.name == name)
            .order_by(table.created_at.desc(), table.version)
            .limit(most)
        )
        return [PromptText(*row) for row in await self._database.fetch(query)]
