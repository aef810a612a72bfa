"""Restricts tables to the caller's own rows: the subquery that stands for a table, and the search for a value
in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from sqlglot import exp

from agents.business.engines.dialects import Dialect, Made
from agents.business.masks import mask_expression
from agents.business.schema import Column, Owner, Schema, Table

# Name of the bound parameter that carries the caller's identity.
CALLER = "1"
# Name of the one that carries what is searched for, without hyphens.
VALUE = "2"
# Written in numbers or not. A blank tells values apart, but for the groups of a phone number.
HYPHEN = "-"
SIGNS = "- "
# More rows than anybody owns. No database may move a condition below a LIMIT: without one PostgreSQL evaluates the
# statement's own over everybody's rows first, and a division by zero there tells that a stranger's row exists.
_FENCE = 2_000_000_000


def build_own_rows(schema: Schema, table: Table, dialect: Dialect) -> str:
    """Returns a SELECT of the listed columns, masked where they are, over the caller's own rows; names in
    lower case.
    """
    shown = [
        exp.alias_(_build_shown(table, column), column.name.lower(), quoted=True) for column in table.columns.values()
    ]
    rows = _limit_to_owner(exp.select(*shown), schema, table, dialect)
    return dialect.write(rows if table.owner is None else rows.limit(_FENCE))


def build_own_value_counts(
    schema: Schema, places: Mapping[str, Sequence[str]], dialect: Dialect, *, at_end: bool = False
) -> exp.Query:
    """Returns a SELECT that counts, table by table, the caller's own rows in which VALUE stands in one of the columns:
    whether a number that a customer names is their own.

    places: table -> columns, neither empty. at_end: compare the end of the value. Hyphens do not count, and at the end
    blanks neither: +86 138-0013-8000 is 13800138000, and YD-2024-01 the number YD202401.
    """
    parts: list[exp.Query] = []
    for name, columns in places.items():
        table = schema.tables[name]
        hits = [_build_hit(exp.cast(_build_column(table, column), "text"), at_end=at_end) for column in columns]
        rows = _limit_to_owner(exp.select(exp.Count(this=exp.Star())), schema, table, dialect)
        parts.append(rows.where(reduce(lambda one, other: exp.or_(one, other), hits)))
    return reduce(lambda one, other: exp.union(one, other, distinct=False), parts)


def quote_name(name: str) -> exp.Identifier:
    """Quotes a name, whatever else it means to the database."""
    return exp.to_identifier(name, quoted=True)


def _limit_to_owner(query: exp.Select, schema: Schema, table: Table, dialect: Dialect) -> exp.Select:
    query = query.from_(exp.Table(this=quote_name(table.name)))
    if table.owner is None:
        return query
    query = query.where(_build_owner_test(schema, table, table.owner, dialect, _return_unchanged))
    return (
        query.where(_build_owner_test(schema, table, table.owner, dialect, dialect.exact)) if dialect.exact else query
    )


def _build_owner_test(schema: Schema, table: Table, owner: Owner, dialect: Dialect, seen: Made) -> exp.Expression:
    """Returns column = CALLER, or column IN (the keys of the caller's own rows of the parent table).

    seen: what of both is compared: first the plain values, which an index helps to find, then the exact ones.
    """
    column = seen(_build_column(table, owner.column))
    if not owner.table:
        return exp.EQ(this=column, expression=seen(_build_parameter(CALLER)))
    above = schema.tables[owner.table]
    keys = _limit_to_owner(exp.select(seen(_build_column(above, owner.key))), schema, above, dialect)
    return exp.In(this=column, query=keys.subquery())


def _return_unchanged(value: exp.Expression) -> exp.Expression:
    return value


def _build_hit(value: exp.Expression, *, at_end: bool) -> exp.Condition:
    for sign in SIGNS if at_end else HYPHEN:
        value = exp.Anonymous(this="REPLACE", expressions=[value, exp.Literal.string(sign), exp.Literal.string("")])
    if not at_end:
        return exp.EQ(this=exp.Upper(this=value), expression=exp.cast(_build_parameter(VALUE), "text"))
    return exp.Like(this=value, expression=exp.cast(_build_parameter(VALUE), "text"))


def _build_shown(table: Table, column: Column) -> exp.Expression:
    value = _build_column(table, column.name)
    return value if column.mask is None else mask_expression(value, column.mask)


def _build_column(table: Table, name: str) -> exp.Column:
    """Returns a column with its table's name: SQLite takes a quoted name alone for a text when there is no
    such column.
    """
    return exp.Column(this=quote_name(name), table=quote_name(table.name))


def _build_parameter(name: str) -> exp.Expression:
    return exp.Parameter(this=exp.Literal.number(name))
