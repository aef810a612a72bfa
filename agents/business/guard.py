"""The guard of the business database: turns a generated statement into one SELECT over the caller's own rows.

Nothing of the statement is trusted. Its syntax tree may only hold node types of `ALLOWED`; every name in it has to
stand for a listed table or column (`agents/business/scope.py`); every table, wherever it stands, is replaced by a
subquery over the listed columns of the caller's own rows, masked where they are, so that no condition, join or subquery
of the statement can reach another row or an unmasked value; what is executed is written anew from that tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from agents.business.engines.dialects import CannotWrite, find_dialect
from agents.business.ownership import CALLER, build_own_rows
from agents.business.schema import Schema, Table
from agents.business.scope import Resolver, UnsafeQuery, check_parts
from agents.business.types import Field

__all__ = ["CALLER", "GuardedQuery", "SqlGuard", "UnsafeQuery"]

MAX_CHARS = 4000
MAX_NODES = 600
# Rows of so many tables may be joined with each other; the statement's timeout bounds what that costs.
MAX_TABLES = 8

# Everything else is refused: other statements, set operations, WITH, placeholders, casts, all other functions.
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


@dataclass(frozen=True, slots=True)
class GuardedQuery:
    """`sql` has the one parameter CALLER, or none where all rows are everybody's (`of_caller` is false); `fields` are
    its output columns, `tables` the tables that it reads.
    """

    sql: str
    fields: tuple[Field, ...]
    tables: tuple[str, ...]
    of_caller: bool = True


class SqlGuard:
    """dialect: of the database; limit: rows that a statement gives at most."""

    def __init__(self, schema: Schema, dialect: str, limit: int) -> None:
        self._schema = schema
        self._dialect = find_dialect(dialect)
        self._limit = limit
        self._rows: dict[str, str] = {}

    def check(self, sql: str, written_in: str = "") -> GuardedQuery:
        """Returns the statement over the caller's own rows. written_in: another dialect than the database's. Raises
        UnsafeQuery.
        """
        if len(sql) > MAX_CHARS or any(not character.isprintable() and not character.isspace() for character in sql):
            raise UnsafeQuery("the statement is too long or has characters that cannot be shown")
        try:
            # The order matters: node types are checked before names are resolved, and only then is anything written.
            tree = self._parse_select(sql, written_in or self._dialect.name)
            self._limit_rows(tree)
            resolver = Resolver(self._schema, self._build_own_rows)
            fields = tuple(origin.field for origin in resolver.resolve_select(tree))
            text = self._dialect.write(tree)
        except (SqlglotError, RecursionError) as error:
            raise UnsafeQuery("not a statement that can be read") from error
        except CannotWrite as error:
            raise UnsafeQuery(str(error)) from error
        tables = tuple(dict.fromkeys(resolver.tables))
        of_caller = any(self._schema.tables[name].owner is not None for name in tables)
        return GuardedQuery(text, fields, tables, of_caller)

    def _build_own_rows(self, table: Table) -> str:
        """Returns the cached subquery of a table, which is most of a statement."""
        if table.name not in self._rows:
            self._rows[table.name] = build_own_rows(self._schema, table, self._dialect)
        return self._rows[table.name]

    def _parse_select(self, sql: str, dialect: str) -> exp.Select:
        statements = sqlglot.parse(sql, read=dialect)
        if len(statements) != 1 or not isinstance(tree := statements[0], exp.Select):
            raise UnsafeQuery("not a single SELECT")
        nodes = list(tree.walk())
        if len(nodes) > MAX_NODES:
            raise UnsafeQuery("the statement is too large")
        for node in nodes:
            if type(node) not in ALLOWED:
                raise UnsafeQuery(f"{type(node).__name__} is not allowed")
            check_parts(node)
        if not 0 < (tables := sum(isinstance(node, exp.Table) for node in nodes)) <= MAX_TABLES:
            raise UnsafeQuery(f"{tables} tables")
        return tree

    def _limit_rows(self, tree: exp.Select) -> None:
        """Limits the rows. A limit of the statement may be lower; limit and offset have to be plain numbers."""
        wanted = [self._limit]
        for clause in (tree.args.get("limit"), tree.args.get("offset")):
            if clause is not None and not (isinstance(clause.expression, exp.Literal) and clause.expression.is_int):
                raise UnsafeQuery("a limit has to be a number")
        if (limit := tree.args.get("limit")) is not None:
            wanted.append(int(limit.expression.name))
        tree.limit(min(wanted), copy=False)
