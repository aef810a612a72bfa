"""The facts that offers depend on, from the member's own rows in the business database, through the guard."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from agents.business.database import BusinessDatabase
from agents.business.engines.base import StatementFailed
from agents.business.guard import SqlGuard, UnsafeQuery
from agents.business.types import Field, Value
from agents.errors import BusinessUnavailable
from agents.offers import Fact
from knowledge.errors import InvalidConfiguration


class BusinessFacts:
    """queries: SELECTs over the schema's tables, of each the first row. Raises InvalidConfiguration for unsafe ones."""

    def __init__(self, database: BusinessDatabase, queries: Sequence[str]) -> None:
        guard = SqlGuard(database.schema, database.dialect, 1)
        for query in queries:
            try:
                guard.check(query)
            except UnsafeQuery as error:
                raise InvalidConfiguration(f"挽留方案的 facts 不合业务库的描述：{query}（{error}）") from error
        self._database = database
        self._queries = tuple(queries)

    async def load_facts(self, caller: str) -> Mapping[str, Fact]:
        """See `agents.offers.MemberFacts`."""
        found = await asyncio.gather(*(self._load_first_row(query, caller) for query in self._queries))
        return {name: fact for facts in found for name, fact in facts.items()}

    async def _load_first_row(self, query: str, caller: str) -> Mapping[str, Fact]:
        try:
            rows = await self._database.query(query, caller)
        except StatementFailed as error:
            raise BusinessUnavailable from error
        if not rows.values:
            return {}
        pairs = zip(rows.fields, rows.values[0], strict=True)
        return {
            field.name: Fact(value, self._format_value(field, value)) for field, value in pairs if value is not None
        }

    def _format_value(self, field: Field, value: Value) -> str:
        """Returns a code as its meaning, a whole number without a point."""
        table = self._database.schema.tables.get(field.table)
        column = table.columns.get(field.column) if table and not field.function else None
        text = f"{value:.2f}".removesuffix(".00") if isinstance(value, float) else str(value)
        return column.values.get(text, text) if column else text
