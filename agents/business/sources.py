"""The rows that a reply cites as `[SQL]`."""

from __future__ import annotations

from agents.business.schema import Schema
from agents.business.types import Field, Rows, Value
from agents.types import RowSource

MAX_SOURCES = 10


def build_row_sources(rows: Rows, schema: Schema) -> tuple[RowSource, ...]:
    """Returns a source for each row, up to MAX_SOURCES; without rows, one that says which table holds none."""
    if not rows.values:
        return tuple(RowSource(table, "", {}) for table in rows.tables[:1])
    index, table = _find_key(rows, schema)
    names = _list_names(rows)
    return tuple(
        RowSource(
            table,
            str(row[index]) if index is not None else "",
            {
                name: _format_value(value, field, schema)
                for name, field, value in zip(names, rows.fields, row, strict=True)
                if value is not None
            },
        )
        for row in rows.values[:MAX_SOURCES]
    )


def _find_key(rows: Rows, schema: Schema) -> tuple[int | None, str]:
    """Returns which column names the row, and of which table: of a join the last table whose key is there, since its
    rows are finer.
    """
    for table in reversed(rows.tables):
        for index, field in enumerate(rows.fields):
            if (field.table, field.column, field.function) == (table, schema.tables[table].key, ""):
                return index, table
    return None, rows.tables[0]


def _list_names(rows: Rows) -> list[str]:
    """Returns the statement's names of the columns, with the table where two have one name."""
    plain = [field.name for field in rows.fields]
    names = [
        f"{field.table}.{field.name}" if field.table and plain.count(field.name) > 1 else field.name
        for field in rows.fields
    ]
    return [f"{name}_{index}" if name in names[:index] else name for index, name in enumerate(names)]


def _format_value(value: Value, field: Field, schema: Schema) -> str:
    """Returns a code as its meaning, an amount without trailing zeros."""
    if field.table and field.function in ("", "min", "max"):
        value = schema.tables[field.table].columns[field.column].values.get(str(value), value)
    return f"{value:.2f}".removesuffix(".00") if isinstance(value, float) else str(value)
