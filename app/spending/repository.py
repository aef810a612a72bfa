"""What language models cost each tenant on each day (UTC)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta

from sqlalchemy import Connection, select

from app.db.base import now
from app.db.engine import Database, insert_into
from app.spending.tables import ModelSpending
from app.spending.types import Spending


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """Whose use, when, of what."""

    tenant: str
    day: str
    model: str


class SpendingRepository:
    """Sums, added to by all processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, spent: Mapping[Entry, Spending]) -> None:
        """Adds to what is written down already. A power cut may take it, a kill does not."""
        rows = [
            {"tenant_id": entry.tenant, "day": entry.day, "model": entry.model, **asdict(spent[entry])}
            for entry in sorted(spent)
        ]
        await self._database.transact(lambda connection: _add(connection, rows), durable=False)

    async def days(self, tenant: str, days: int) -> list[tuple[Entry, Spending]]:
        """The last `days` days, today included, the newest first."""
        table, first = ModelSpending, (now() - timedelta(days=days - 1)).date().isoformat()
        query = (
            select(table.day, table.model, table.calls, table.prompt_tokens, table.completion_tokens, table.cost)
            .where(table.tenant_id == tenant, table.day >= first)
            .order_by(table.day.desc(), table.model)
        )
        async with self._database.read() as connection:
            return [
                (Entry(tenant, day, model), Spending(*sums)) for day, model, *sums in await connection.execute(query)
            ]


def _add(connection: Connection, rows: list[dict[str, object]]) -> None:
    table, added = ModelSpending, insert_into(connection, ModelSpending)
    sums = "calls", "prompt_tokens", "completion_tokens", "cost"
    connection.execute(
        added.on_conflict_do_update(
            index_elements=[table.tenant_id, table.day, table.model],
            set_={name: getattr(table, name) + added.excluded[name] for name in sums},
        ),
        rows,
    )
