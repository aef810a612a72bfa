"""The relations between the tables of a description: which rows belong to which."""

from __future__ import annotations

from agents.business.schema import Owner, Schema, Table


def get_singular(table: str) -> str:
    """Returns what one row is called in the names of output columns: order_items -> item."""
    return table.rpartition("_")[2].removesuffix("s")


def find_parent(schema: Schema, table: str) -> Owner | None:
    """Returns the way to the table that a table's rows belong to; None where they are the member's directly."""
    owner = schema.tables[table].owner
    return owner if owner is not None and owner.table else None


def build_base(schema: Schema, table: str) -> str:
    """Returns SQL of the rows of a table, with the row that each belongs to."""
    owner = find_parent(schema, table)
    return f"{table} JOIN {owner.table} ON {_build_parent_link(table, owner)}" if owner else table


def list_related(schema: Schema, table: str) -> tuple[str, ...]:
    """Returns a table itself, its parent, its children, and its siblings."""
    owner = find_parent(schema, table)
    up = (owner.table,) if owner else ()
    below = tuple(name for name in schema.tables if _find_owner_table(schema, name) == table)
    beside = tuple(
        name for name in schema.tables if owner and name != table and _find_owner_table(schema, name) == owner.table
    )
    return (table, *up, *below, *beside)


def build_join(schema: Schema, table: str, other: str) -> str:
    """Returns SQL that joins another related table to `build_base`; empty where it is in there."""
    link = _build_link(schema, table, other)
    return f"LEFT JOIN {other} ON {link}" if link else ""


def build_test(schema: Schema, table: str, other: str, test: str) -> str:
    """Returns a test over a related table as a test over the rows of `build_base`."""
    link = _build_link(schema, table, other)
    return f"EXISTS (SELECT 1 FROM {other} WHERE {link} AND ({test}))" if link else test


def _build_link(schema: Schema, table: str, other: str) -> str:
    """Returns the condition that links a child or sibling to `build_base`."""
    owner, above = find_parent(schema, other), find_parent(schema, table)
    if other == table or owner is None or (above and other == above.table):
        return ""
    if owner.table == table:
        return _build_parent_link(other, owner)
    return f"{other}.{owner.column} = {table}.{above.column}" if above else ""


def _build_parent_link(table: str, owner: Owner) -> str:
    return f"{table}.{owner.column} = {owner.table}.{owner.key}"


def _find_owner_table(schema: Schema, table: str) -> str:
    owner = find_parent(schema, table)
    return owner.table if owner else ""


def has_one_row(table: Table) -> bool:
    """Whether a member has only one row of it: their own."""
    return table.owner is not None and not table.owner.table and table.owner.column == table.key


def is_below(schema: Schema, table: str, above: str) -> bool:
    """Whether the rows of a table belong to those of another."""
    owner = find_parent(schema, table)
    return owner is not None and owner.table == above
