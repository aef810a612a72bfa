"""Tells which values of a statement are facts: read from columns, not written by the statement itself.

A literal is harmless in a condition, as a number of digits, and as the unit or zero of a calculation (100 for a
percentage, 0 where there is no row, 1 and 0 that are summed up to count). Anywhere else it could become the value.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

_NONE: frozenset[str] = frozenset()
_EMPTY = frozenset({"0"})
_COUNTED = frozenset({"0", "1"})
_UNITS = frozenset({"1", "1.0", "100", "100.0"})
# Of these, what stands first is the value; the rest says how much of it.
_FIRST_PART = (
    exp.Paren,
    exp.Neg,
    exp.Abs,
    exp.Lower,
    exp.Upper,
    exp.Length,
    exp.Round,
    exp.Substring,
    exp.Trim,
    exp.Date,
)


def is_stated(
    node: exp.Expr | None,
    column: Callable[[exp.Column], bool],
    query: Callable[[exp.Select], bool],
    harmless: frozenset[str] = _NONE,
) -> bool:
    """Whether a literal may become the value of an expression.

    Args:
        node: the expression.
        column: whether that holds for a name.
        query: whether that holds for the one value of a subquery.
        harmless: numbers that may be part of it.
    """

    def has_stated_part(parts: list[exp.Expr | None], allowed: frozenset[str] = harmless) -> bool:
        return any(is_stated(part, column, query, allowed) for part in parts)

    match node:
        case None | exp.Null() | exp.Count():
            return False
        case exp.Column():
            return column(node)
        case exp.Literal():
            return node.is_string or node.name not in harmless
        case exp.Subquery() if isinstance(node.this, exp.Select):
            return query(node.this)
        case exp.Sum() | exp.Avg():
            return has_stated_part([node.this], _COUNTED)
        case exp.Min() | exp.Max():
            return has_stated_part([node.this, *node.expressions], _NONE)
        case exp.Distinct():
            return has_stated_part(node.expressions)
        case exp.Coalesce():
            return has_stated_part([node.this, *node.expressions], harmless | _EMPTY)
        case exp.Case():
            return has_stated_part(
                [*(branch.args.get("true") for branch in node.args["ifs"]), node.args.get("default")]
            )
        case exp.If():
            return has_stated_part([node.args.get("true"), node.args.get("false")])
        case exp.Mul() | exp.Div():
            return has_stated_part([node.args["this"], node.args["expression"]], _UNITS)
        case exp.Add() | exp.Sub() | exp.DPipe():
            return has_stated_part([node.args["this"], node.args["expression"]], _NONE)
        case _ if isinstance(node, _FIRST_PART):
            return has_stated_part([node.this])
    return True
