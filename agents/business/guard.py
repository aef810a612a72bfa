"""What of a generated statement may reach the business database: one SELECT, over the caller's own rows alone.

Nothing of the statement is trusted. Its syntax tree may only hold node types of `ALLOWED`; every table in it, wherever
it stands, is replaced by a subquery over the allow-listed columns of the caller's own rows, so no condition, join or
subquery of the statement can reach another row; what is executed is written anew from that tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from secrets import token_hex

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from agents.business.schema import Owner, Schema

CALLER = "caller"
"""Name of the bound parameter that carries the caller's identity."""
MAX_CHARS = 4000
MAX_NODES = 600
MAX_TABLES = 8

ALLOWED: frozenset[type[exp.Expression]] = frozenset(
    {
        # a statement and its clauses
        *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered),
        *(exp.Limit, exp.Offset, exp.Distinct, exp.Subquery, exp.Exists),
        # names and values
        *(exp.Table, exp.TableAlias, exp.Column, exp.Identifier, exp.Alias, exp.Star),
        *(exp.Literal, exp.Null, exp.Boolean, exp.Tuple),
        # operators
        *(exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
        *(exp.In, exp.Between, exp.Like, exp.Is, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.DPipe),
        *(exp.Case, exp.If),
        # functions
        *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Coalesce, exp.Abs, exp.Round),
        *(exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Trim, exp.Date),
    }
)
"""Everything else is refused: other statements, set operations, WITH, placeholders, casts, all other functions."""


class UnsafeQuery(Exception):
    """The statement asks for something it must not; the message says what, for the trace."""


@dataclass(frozen=True, slots=True)
class GuardedQuery:
    """`sql` is text for `sqlalchemy.text` with the one parameter CALLER; `tables` are the ones it reads."""

    sql: str
    tables: tuple[str, ...]


class SqlGuard:
    """dialect: of sqlglot, `sqlite` or `postgres`; limit: rows that a statement gives at most."""

    def __init__(self, schema: Schema, dialect: str, limit: int) -> None:
        self._schema = schema
        self._dialect = dialect
        self._limit = limit

    def check(self, sql: str) -> GuardedQuery:
        """The statement over the caller's own rows. Raises UnsafeQuery."""
        tree = self._parsed(sql)
        tables = self._tables(tree)
        caller = f"caller_{token_hex(16)}"  # nothing in the statement's own literals can be mistaken for it
        for reference in tables:
            reference.replace(self._own_rows(reference, caller))
        self._bounded(tree)
        names = tuple(dict.fromkeys(reference.name.lower() for reference in tables))
        text = tree.sql(dialect=self._dialect, comments=False)
        return GuardedQuery(text.replace(":", "\\:").replace(caller, f":{CALLER}"), names)

    def _parsed(self, sql: str) -> exp.Select:
        if len(sql) > MAX_CHARS:
            raise UnsafeQuery("the statement is too long")
        try:
            statements = sqlglot.parse(sql, read=self._dialect)
        except (SqlglotError, RecursionError) as error:
            raise UnsafeQuery("not a statement that can be read") from error
        if len(statements) != 1 or not isinstance(tree := statements[0], exp.Select):
            raise UnsafeQuery("not a single SELECT")
        nodes = list(tree.walk())
        if len(nodes) > MAX_NODES:
            raise UnsafeQuery("the statement is too large")
        for node in nodes:
            if type(node) not in ALLOWED:
                raise UnsafeQuery(f"{type(node).__name__} is not allowed")
        return tree

    def _tables(self, tree: exp.Select) -> list[exp.Table]:
        tables = list(tree.find_all(exp.Table))
        if not 0 < len(tables) <= MAX_TABLES:
            raise UnsafeQuery(f"{len(tables)} tables")
        for table in tables:
            unknown = {name for name, value in table.args.items() if value} - {"this", "alias"}
            if unknown or table.name.lower() not in self._schema.tables:
                raise UnsafeQuery(f"table {table.sql()} is not allowed")
        return tables

    def _own_rows(self, reference: exp.Table, caller: str) -> exp.Subquery:
        table = self._schema.tables[reference.name.lower()]
        rows = exp.select(*(_name(column) for column in table.columns)).from_(_name(table.name))
        if table.owner is not None:
            rows = rows.where(self._owned(table.owner, caller))
        return rows.subquery(reference.alias or reference.name)

    def _owned(self, owner: Owner, caller: str) -> exp.Expression:
        """column = :caller, or column IN (the keys of the caller's own rows of the table above)."""
        if not owner.table:
            return exp.EQ(this=exp.Column(this=_name(owner.column)), expression=exp.Var(this=caller))
        above = self._schema.tables[owner.table]
        assert above.owner is not None  # load_schema has followed every chain
        keys = exp.select(_name(owner.key)).from_(_name(above.name)).where(self._owned(above.owner, caller))
        return exp.In(this=exp.Column(this=_name(owner.column)), query=keys.subquery())

    def _bounded(self, tree: exp.Select) -> None:
        """A limit of its own may be lower; it has to be a plain number, and an offset too."""
        wanted = [self._limit]
        for clause in (tree.args.get("limit"), tree.args.get("offset")):
            if clause is not None and not (isinstance(clause.expression, exp.Literal) and clause.expression.is_int):
                raise UnsafeQuery("a limit has to be a number")
        if (limit := tree.args.get("limit")) is not None:
            wanted.append(int(limit.expression.name))
        tree.limit(min(wanted), copy=False)


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)
