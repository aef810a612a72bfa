"""Name and level of a member, from the member's own row."""

from __future__ import annotations

from sqlglot import exp

from agents.business.database import BusinessDatabase
from agents.business.engines.base import StatementFailed
from agents.business.guard import UnsafeQuery
from agents.business.ownership import quote_name
from agents.business.schema import Column, Schema, Table
from agents.errors import BusinessUnavailable

# What the column of the level is called, or what customers call it by.
LEVEL, LEVEL_WORD = "level", "等级"


class MemberRows:
    """The members of one company."""

    def __init__(self, database: BusinessDatabase) -> None:
        self._database = database
        self._statement, self._columns = _build_statement(database.schema, database.dialect)

    async def find(self, caller: str) -> tuple[str, str]:
        """Returns name, masked, and level, in words; empty where unknown. Raises BusinessUnavailable."""
        if not self._statement:
            return "", ""
        try:
            rows = await self._database.query(self._statement, caller)
        except (StatementFailed, UnsafeQuery) as error:  # the statement is our own: the database has not what it should
            raise BusinessUnavailable(str(error)) from error
        if not rows.values:
            return "", ""
        shown = {
            field.column: self._columns[field.column].values.get(str(value), str(value))
            for field, value in zip(rows.fields, rows.values[0], strict=True)
            if value is not None
        }
        of = {column.mask: shown.get(name, "") for name, column in self._columns.items()}
        return of.get("name", ""), of.get(None, "")


def _build_statement(schema: Schema, dialect: str) -> tuple[str, dict[str, Column]]:
    """Returns the SELECT on the table whose rows are the members, and its columns; empty without such a table."""
    for table in schema.tables.values():
        if columns := _choose_columns(table):
            chosen = [exp.Column(this=quote_name(name), table=quote_name(table.name)) for name in columns]
            return exp.select(*chosen).from_(exp.Table(this=quote_name(table.name))).sql(dialect), columns
    return "", {}


def _choose_columns(table: Table) -> dict[str, Column]:
    if table.owner is None or table.owner.table or table.owner.column != table.key:
        return {}
    names = [name for name, column in table.columns.items() if column.mask == "name"][:1]
    levels = [
        name
        for name, column in table.columns.items()
        if column.mask is None and (name == LEVEL or LEVEL_WORD in column.words)
    ][:1]
    return {name: table.columns[name] for name in names + levels}
