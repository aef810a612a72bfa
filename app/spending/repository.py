"""What language models cost each tenant on each day (UTC)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from types import MappingProxyType

from sqlalchemy import Connection, select

from app.db.base import get_table, now
from app.db.engine import Database, insert_into
from app.spending.tables import ModelSpending, UnreadableReplies
from app.spending.types import Spending


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """Whose use, when, of what."""

    tenant: str
    day: str
    model: str


@dataclass(frozen=True, slots=True, order=True)
class Unreadable:
    """Whose replies of which day and model could not be read."""

    tenant: str
    day: str
    provider: str
    model: str


NONE: Mapping[Unreadable, int] = MappingProxyType({})


class SpendingRepository:
    """Sums, added to by all processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, spent: Mapping[Entry, Spending], unreadable: Mapping[Unreadable, int] = NONE) -> None:
        """Adds to what is written down already. A power cut may take it, a kill does not."""
        rows = [
            {"tenant_id": entry.tenant, "day": entry.day, "model": entry.model, **asdict(spent[entry])}
            for entry in sorted(spent)
        ]
        counts = [
            {
                "tenant_id": one.tenant,
                "day": one.day,
                "provider": one.provider,
                "model": one.model,
                "replies": unreadable[one],
            }
            for one in sorted(unreadable)
        ]
        await self._database.transact(lambda connection: _add(connection, rows, counts), durable=False)

    async def load_days(self, tenant: str, days: int) -> list[tuple[Entry, Spending]]:
        """Returns what each model cost a tenant on each of the last `days` days (UTC, today included).

        The newest day comes first, the models of a day in the order of their names; a model without use has no entry.
        """
        table = ModelSpending
        query = (
            select(table.day, table.model, table.calls, table.prompt_tokens, table.completion_tokens, table.cost)
            .where(table.tenant_id == tenant, table.day >= _get_first_day(days))
            .order_by(table.day.desc(), table.model)
        )
        return [(Entry(tenant, day, model), Spending(*sums)) for day, model, *sums in await self._database.fetch(query)]

    async def load_unreadable(self, tenant: str, days: int) -> list[tuple[Unreadable, int]]:
        """Returns how many replies of each model could not be read on each of the last `days` days, newest first."""
        table = UnreadableReplies
        query = (
            select(table.day, table.provider, table.model, table.replies)
            .where(table.tenant_id == tenant, table.day >= _get_first_day(days))
            .order_by(table.day.desc(), table.provider, table.model)
        )
        return [(Unreadable(tenant, *place), count) for *place, count in await self._database.fetch(query)]


def _get_first_day(days: int) -> str:
    return (now() - timedelta(days=days - 1)).date().isoformat()


def _add(connection: Connection, rows: list[dict[str, object]], unreadable: list[dict[str, object]]) -> None:
    for table, sums, added in (
        (ModelSpending, ("calls", "prompt_tokens", "completion_tokens", "cost"), rows),
        (UnreadableReplies, ("replies",), unreadable),
    ):
        if added:
            row = insert_into(connection, table)
            key = list(get_table(table).primary_key.columns)
            more = {name: getattr(table, name) + row.excluded[name] for name in sums}
            connection.execute(row.on_conflict_do_update(index_elements=key, set_=more), added)
