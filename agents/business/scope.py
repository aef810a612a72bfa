"""Resolves every name in a generated statement; a name that stands for nothing listed is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from agents.business.literals import is_stated
from agents.business.ownership import quote_name
from agents.business.schema import Schema, Table
from agents.business.types import Field

# PostgreSQL cuts longer names short, and two could become one.
MAX_NAME_BYTES = 63
_JOINS = frozenset({"", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS"})
# What these may consist of: the parsers know more, of which some changes what a name or a row means.
_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {"expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "distinct"}
    ),
    exp.Table: frozenset({"this", "alias"}),
    exp.TableAlias: frozenset({"this"}),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.Group: frozenset({"expressions"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.In: frozenset({"this", "expressions", "query"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Limit: frozenset({"expression"}),
    exp.Offset: frozenset({"expression"}),
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Exists: frozenset({"this"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.Trim: frozenset({"this", "expression", "position"}),
    **dict.fromkeys((exp.Max, exp.Min), frozenset({"this", "expressions"})),
}
# Signs that some database takes for the end of a name.
_NO_NAME = re.compile(r"""['"`\\\[\]]""")


class UnsafeQuery(Exception):
    """The statement asks for something that is not allowed; the message says what, for the trace and for the author of
    the statement.
    """


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the values of an output column come from."""

    field: Field
    masked: bool = False


Columns = Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a SELECT sees: tables by alias, its own output names, and what its surroundings see."""

    tables: Mapping[str, Columns]
    outputs: Mapping[str, Origin] = field(default_factory=dict)
    outer: Scope | None = None


class Resolver:
    """Rewrites a statement in place: tables become the caller's own rows, columns get their table, all names are
    quoted.

    A masked column may only be shown: in a calculation or comparison its mask would be taken for its value.
    """

    def __init__(self, schema: Schema, rows: Callable[[Table], str]) -> None:
        """rows: returns the SELECT that stands for a table, see `ownership.build_own_rows`."""
        self._rows = rows
        self._listed = {name.lower(): table for name, table in schema.tables.items()}
        self.tables: list[str] = []
        self._outputs: dict[int, tuple[Origin, ...]] = {}

    def resolve_select(self, tree: exp.Select, outer: Scope | None = None, *, shows: bool = True) -> tuple[Origin, ...]:
        """Returns the output columns. shows: the rows are given out or read from, not compared with. Raises
        UnsafeQuery.
        """
        source = tree.args.get("from_")
        if source is None:
            raise UnsafeQuery("a SELECT needs a table")
        joins: list[exp.Join] = tree.args.get("joins") or []
        tables: dict[str, Columns] = {}
        for relation in (source.this, *(join.this for join in joins)):
            alias, columns = self._resolve_relation(relation, outer)
            if alias in tables:
                raise UnsafeQuery(f"two tables are called {alias}")
            tables[alias] = columns
        scope = Scope(tables, outer=outer)
        for join in joins:
            if {str(join.args.get(part) or "").upper() for part in ("side", "kind")} - _JOINS:
                raise UnsafeQuery(f"{join.side} {join.kind} JOIN is not allowed")
            self._check_node(join.args.get("on"), scope)
        tree.set("expressions", list(_expand_stars(tree.expressions, tables)))
        if not tree.expressions:  # PostgreSQL would take it, and give rows of nothing
            raise UnsafeQuery("a SELECT needs columns")
        outputs = tuple(self._resolve_output(tree, index, scope, shows=shows) for index in range(len(tree.expressions)))
        named = replace(scope, outputs={output.field.name: output for output in outputs})
        self._check_node(tree.args.get("where"), scope)
        for clause in ("group", "having", "order", "limit", "offset"):
            self._check_node(tree.args.get(clause), named)
        self._outputs[id(tree)] = outputs
        return outputs

    def _resolve_relation(self, relation: exp.Expression, outer: Scope | None) -> tuple[str, Columns]:
        """Returns alias and columns of what stands after FROM or JOIN."""
        if isinstance(relation, exp.Subquery) and isinstance(relation.this, exp.Select):
            alias = _get_alias(relation)
            outputs = self.resolve_select(relation.this, outer)
            columns = {output.field.name: output for output in outputs}
            if len(columns) < len(outputs):
                raise UnsafeQuery(f"two columns of {alias} have one name")
            relation.set("alias", exp.TableAlias(this=quote_name(alias)))
            return alias, columns
        if not isinstance(relation, exp.Table) or relation.name.lower() not in self._listed:
            raise UnsafeQuery(f"table {relation.sql()} is not allowed")
        table = self._listed[relation.name.lower()]
        alias = _get_alias(relation) if relation.alias else table.name.lower()
        self.tables.append(table.name)
        rows = exp.Var(this=f"({self._rows(table)})")  # written already: it goes into the statement as it is
        relation.replace(exp.Table(this=rows, alias=exp.TableAlias(this=quote_name(alias))))
        return alias, {
            column.name.lower(): Origin(Field(column.name.lower(), table.name, column.name), column.mask is not None)
            for column in table.columns.values()
        }

    def _resolve_output(self, tree: exp.Select, index: int, scope: Scope, *, shows: bool) -> Origin:
        """Resolves one output column, which gets a name of its own."""
        given = tree.expressions[index]
        value = given.this if isinstance(given, exp.Alias) else given
        name = _get_name(given.args["alias"]) if isinstance(given, exp.Alias) else ""
        if isinstance(value, exp.Column):
            origin = self._resolve_column(value, scope, shown=shows)
            origin = replace(origin, field=replace(origin.field, name=name or _get_name(value.this)))
        else:
            self._check_node(value, scope)
            computed = self._describe_computed(value, name or f"column_{index + 1}", scope)
            origin = Origin(replace(computed, stated=self._is_stated(value, scope)))
        tree.expressions[index].replace(exp.alias_(value.copy(), origin.field.name, quoted=True))
        return origin

    def _describe_computed(self, value: exp.Expression, name: str, scope: Scope) -> Field:
        """Returns a field with its source, where that is one aggregate of one column."""
        if not isinstance(value, exp.AggFunc):
            return Field(name)
        function = value.key
        of = value.this
        if isinstance(of, exp.Distinct) and len(of.expressions) == 1:
            of = of.expressions[0]
        if not isinstance(of, exp.Column):
            return Field(name, function=function)
        below = _find_column(of, scope)[1].field
        return Field(name, below.table, below.column, function) if not below.function else Field(name)

    def _is_stated(self, node: exp.Expression, scope: Scope) -> bool:
        """Whether a value was, or may be, written by the statement instead of read. Its names were checked."""

        def column(of: exp.Column) -> bool:
            return _find_column(of, scope)[1].field.stated

        def query(of: exp.Select) -> bool:
            return any(origin.field.stated for origin in self._outputs[id(of)])

        return is_stated(node, column, query)

    def _check_node(self, node: exp.Expression | None, scope: Scope) -> None:
        """Checks that every name in a part of a statement is allowed, nested SELECTs included.

        Raises:
            UnsafeQuery: A name is unknown, not allowed, or at a place where no name belongs.
        """
        if node is None:
            return
        if isinstance(node, exp.Select):
            self.resolve_select(node, scope, shows=False)
        elif isinstance(node, exp.Column):
            self._resolve_column(node, scope)
        elif isinstance(node, (exp.Table, exp.Identifier, exp.Alias)):
            raise UnsafeQuery(f"{node.sql()} is not allowed there")
        else:
            for child in list(node.iter_expressions()):
                self._check_node(child, scope)

    def _resolve_column(self, column: exp.Column, scope: Scope, *, shown: bool = False) -> Origin:
        alias, origin = _find_column(column, scope)
        if origin.masked and not shown:
            raise UnsafeQuery(f"column {column.name} is masked: select it as it is, do not compute or compare with it")
        column.set("this", quote_name(_get_name(column.this)))
        column.set("table", quote_name(alias) if alias else None)
        return origin


def _find_column(column: exp.Column, scope: Scope | None) -> tuple[str, Origin]:
    """Returns the alias of the table that has the column, empty for an output name; the innermost SELECT goes first."""
    name, table = _get_name(column.this), _get_name(column.args["table"]) if column.args.get("table") else ""
    while scope is not None:
        if not table and name in scope.outputs:
            return "", scope.outputs[name]
        hits = [alias for alias, columns in scope.tables.items() if table in ("", alias) and name in columns]
        if len(hits) > 1:
            raise UnsafeQuery(f"column {name} is in {' and '.join(hits)}")
        if hits:
            return hits[0], scope.tables[hits[0]][name]
        scope = scope.outer
    raise UnsafeQuery(f"there is no column {column.sql()}")


def _expand_stars(expressions: Sequence[exp.Expression], tables: Mapping[str, Columns]) -> Iterator[exp.Expression]:
    for item in expressions:
        if not item.is_star or isinstance(item, exp.Count):
            yield item
            continue
        chosen = _get_name(item.args["table"]) if isinstance(item, exp.Column) else ""
        if chosen and chosen not in tables:
            raise UnsafeQuery(f"{item.sql()} is not allowed")
        for alias, columns in tables.items():
            if chosen in ("", alias):
                for name in columns:
                    yield exp.Column(this=quote_name(name), table=quote_name(alias))


def check_parts(node: exp.Expr) -> None:
    """Raises UnsafeQuery for a node that consists of more than it may."""
    allowed = _PARTS.get(type(node))
    if allowed is not None and (unknown := {name for name, value in node.args.items() if value} - allowed):
        raise UnsafeQuery(f"{'/'.join(sorted(unknown))} of {type(node).__name__} is not allowed")


def _get_alias(relation: exp.Expression) -> str:
    given = relation.args.get("alias")
    if not isinstance(given, exp.TableAlias):
        raise UnsafeQuery("a subquery after FROM needs a name")
    return _get_name(given.this)


def _get_name(identifier: exp.Expression) -> str:
    """Returns a name in lower case: databases do not tell apart unquoted names by case."""
    if not isinstance(identifier, exp.Identifier) or not identifier.name:
        raise UnsafeQuery(f"{identifier.sql()} is no name")
    name: str = identifier.name.lower()
    if len(name.encode()) > MAX_NAME_BYTES or not name.isprintable() or _NO_NAME.search(name):
        raise UnsafeQuery("a name is too long or has characters that no name has")
    return name
