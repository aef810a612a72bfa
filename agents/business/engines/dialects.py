"""The SQL dialects of business databases: how each one writes the tree that the guard has made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

Made = Callable[[exp.Expression], exp.Expression]
# Stands, with the parameter's name after it, where a driver's own sign for a bound value has to go.
MARK = "YINGDA_BOUND_"


class CannotWrite(Exception):
    """The dialect has no safe way to write it; the message says what."""


def _build_hex(value: exp.Expression) -> exp.Expression:
    return exp.Anonymous(this="HEX", expressions=[exp.cast(value, "text")])


@dataclass(frozen=True, slots=True)
class Dialect:
    """`name`: as sqlglot calls it; `shown`: as a prompt does.

    `exact`: an expression that differs wherever two texts differ, for databases that may take m1 for M1; None where `=`
    tells them apart. `marks`: bound values are written as MARK, for SQLAlchemy to replace. `limits_in`: a subquery
    after IN may have a LIMIT.
    """

    name: str
    shown: str
    exact: Made | None = None
    marks: bool = True
    limits_in: bool = True

    def write(self, tree: exp.Query) -> str:
        """Returns the text of a tree, which it may change. Raises CannotWrite."""
        for literal in tree.find_all(exp.Literal):
            self._check_literal(literal)
        if not self.limits_in:
            _wrap_limits(tree)
        return self._write_with_marks(tree) if self.marks else tree.sql(dialect=self.name, comments=False)

    def _check_literal(self, literal: exp.Literal) -> None:
        """Refuses a backslash or a quote where it means more than itself, or might under another server setting."""
        if not literal.is_string:
            return
        for sign, plain in (("\\", "'\\'"), ("'", "''''")):
            if sign in literal.this and exp.Literal.string(sign).sql(dialect=self.name) != plain:
                raise CannotWrite(f"a text must not have {sign} in it")

    def _write_with_marks(self, tree: exp.Query) -> str:
        """Writes the tree with marks for bound values; no text or name of it may look like one."""
        for parameter in list(tree.find_all(exp.Parameter)):
            parameter.replace(exp.Var(this=f"{MARK}{parameter.name}"))
        text: str = tree.sql(dialect=self.name, comments=False)
        if text.count(MARK) != sum(word.name.count(MARK) for word in tree.find_all(exp.Var)):
            raise CannotWrite(f"{MARK} is a reserved word")
        return text


def _wrap_limits(tree: exp.Query) -> None:
    """x IN (SELECT … LIMIT n) becomes x IN (SELECT * FROM (SELECT … LIMIT n) AS first_rows)."""
    for condition in tree.find_all(exp.In):
        query = condition.args.get("query")
        if isinstance(query, exp.Subquery) and query.this.args.get("limit") is not None:
            inner = exp.select("*").from_(query.this.subquery("first_rows"))
            condition.set("query", inner.subquery())


_TRIED: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("sqlite", "SQLite", exact=_build_hex, marks=False),
        Dialect("postgres", "PostgreSQL", marks=False),
        Dialect("mysql", "MySQL", exact=_build_hex, limits_in=False),
        Dialect("duckdb", "DuckDB", exact=_build_hex),
    )
}


def find_dialect(name: str) -> Dialect:
    """Returns the dialect of sqlglot's name. An untried one is written as sqlglot writes it."""
    return _TRIED.get(name) or Dialect(name, name)
