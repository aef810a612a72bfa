"""Finds the header rows of a table by how they differ from the rows below."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from knowledge.parsing.cells import SENTENCE_END, CellKind, find_kind, get_cell

Row = Sequence[str]

# Rows that a table is judged by.
SAMPLE = 50
# Header rows under each other: groups of groups of columns.
_MAX_DEPTH = 3
# Most tables have a header: without any evidence the first row is taken for one.
LIKELY = 0.5
# The format calls the first row a header, though there may be none, as Markdown does.
DECLARED = 2.0
_YEAR = re.compile(r"(?:19|20)\d\d")
# Characters; nobody names a column by so many.
_LONG = 30
_DIGITS = re.compile(r"\d+")


def find_header_depth(rows: Sequence[Row], declared: int | None = None, certain: bool = True) -> int:
    """Returns the number of header rows: 0 for none, 2 or 3 if groups of columns have names of their own.

    Args:
        rows: The first rows, none empty, cells stripped.
        declared: How many the format declares; None if it declares nothing.
        certain: Whether the declared rows are a header whatever they contain.
    """
    if declared is not None and certain:
        return min(declared, len(rows))
    prior = DECLARED if declared else LIKELY
    for count in range(min(_MAX_DEPTH, len(rows) - 1), 1, -1):
        levels = rows[:count]
        if all(is_group_header(upper, lower) for upper, lower in pairwise(levels)):
            body = rows[count:]
            if body and all(_has_names(level, body, prior) for level in levels):
                return count
    return int(bool(rows) and _has_names(rows[0], rows[1:], prior))


def build_column_names(levels: Sequence[Row]) -> list[str]:
    """Returns a name for each column: 价格/会员价 below a group; "" without a name."""
    width = max(map(len, levels), default=0)
    columns: list[list[str]] = [[] for _ in range(width)]
    for number, level in enumerate(levels):
        group = ""
        below = levels[number + 1] if number + 1 < len(levels) else ()
        for column in range(width):
            name = " ".join(get_cell(level, column).split())
            group = name or group
            if not name and get_cell(below, column):
                name = group
            if name and name not in columns[column]:
                columns[column].append(name)
    return ["/".join(parts) for parts in columns]


def is_group_header(upper: Row, lower: Row) -> bool:
    """Returns whether each cell of `lower` divides a cell of `upper` that spans several columns, or repeats the one
    above.

    A cell that spans columns may be repeated in each of them.
    """
    divided = 0
    upper = [cell if not column or cell != upper[column - 1] else "" for column, cell in enumerate(upper)]
    for column in range(max(len(upper), len(lower))):
        over, under = get_cell(upper, column), get_cell(lower, column)
        spans = bool(over) and not get_cell(upper, column + 1) and bool(get_cell(lower, column + 1))
        if over and not spans and under not in ("", over):
            return False
        divided += bool(under) and (spans or not over)
    return divided > 1 and any(upper)


def measure_likelihood(head: Row, body: Sequence[Row]) -> float:
    """Measures how much a row differs from others, as column names do: every column votes. Above 0 it is likely a
    header.
    """
    others = [row for row in body if list(row) != list(head)]  # a header that is printed again
    named = ((column, cell) for column, cell in enumerate(head) if cell)
    return sum(
        _compute_vote(cell, [found for row in others if (found := get_cell(row, column))]) for column, cell in named
    )


def _has_names(head: Row, body: Sequence[Row], prior: float) -> bool:
    return prior + measure_likelihood(head, body) > 0


def _compute_vote(head: str, body: Sequence[str]) -> float:
    """Returns a positive vote if the cell differs in kind from those below it, a negative one if it does not or is
    no name.
    """
    if head in body:
        return -2
    if find_kind(head) is CellKind.NUMBER and not (_YEAR.fullmatch(head) and not any(map(_YEAR.fullmatch, body))):
        return -3
    if SENTENCE_END.search(head) or len(head) > _LONG:
        return -2
    if not body:
        return 0
    if _DIGITS.search(head):
        return -2 if _compute_share(_is_alike(head, cell) for cell in body) >= 0.3 else 0
    if _compute_share(bool(_DIGITS.search(cell)) for cell in body) >= 0.6:
        return 2
    usual = median(map(len, body))
    if usual >= 2 * len(head) + 4:
        return 1
    if len(head) > 8 and usual <= 2 * len(head):
        return -1
    same = _compute_share(len(cell) == len(head) and cell[-1] == head[-1] for cell in body)
    return -1 if len(head) > 2 and same >= 0.5 else 0  # 次日达, 隔日达; but 颜色, 红色


def _is_alike(one: str, other: str) -> bool:
    """Returns whether two texts differ only in numbers: E01 and E02, 3 天内 and 15 天内."""
    if not _DIGITS.search(other):
        return False
    words, others = set(_DIGITS.sub("", one)), set(_DIGITS.sub("", other))
    return bool(words) and len(words & others) >= 0.6 * min(len(words), len(others) or 1)


def _compute_share(found: Iterable[bool]) -> float:
    values = list(found)
    return sum(values) / len(values)
