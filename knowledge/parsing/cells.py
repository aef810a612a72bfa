"""Detects the kind of value in a table cell by its shape alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

SENTENCE_END = re.compile(r"[。！？!?；]$")
_NUMBER = re.compile(r"[-+¥￥$€]?\d[\d,.]*%?")
# Characters; what is longer is no name, no code and no amount.
_PROSE = 15
# Share of a column that a cell must resemble to be one more of it.
_SAME = 0.3


class CellKind(StrEnum):
    """Kinds of values, coarse on purpose: the cells of a column are mostly of one kind, those of a list of fields
    are not.
    """

    NUMBER = "number"
    # Short, with a digit in it: a code, an amount with its unit, a time.
    FIGURE = "figure"
    # Short, ASCII alone: an address, a code without digits.
    LATIN = "latin"
    TEXT = "text"
    PROSE = "prose"


def find_kind(cell: str) -> CellKind:
    """Returns the kind of a cell that is not empty."""
    if _NUMBER.fullmatch(cell):
        return CellKind.NUMBER
    if len(cell) > _PROSE or SENTENCE_END.search(cell):
        return CellKind.PROSE
    if any(map(str.isdigit, cell)):
        return CellKind.FIGURE
    return CellKind.LATIN if cell.isascii() else CellKind.TEXT


def find_usual_kind(cells: Iterable[str]) -> tuple[CellKind, float] | None:
    """Returns the most frequent kind of some cells and its share in (0, 1]; None if all are empty."""
    kinds = [find_kind(cell) for cell in cells if cell]
    if not kinds:
        return None
    kind, times = Counter(kinds).most_common(1)[0]
    return kind, times / len(kinds)


def is_one_more(cell: str, column: Sequence[str]) -> bool:
    """Returns whether a cell is of the same kind as those of a column; short texts are compared by how they begin or
    end.
    """
    usual = find_usual_kind(column)
    if usual is None or find_kind(cell) is not usual[0]:
        return False
    if usual[0] is not CellKind.TEXT:
        return True
    return sum(cell[-1] == other[-1] or cell[0] == other[0] for other in column if other) >= _SAME * len(column)


def get_cell(row: Sequence[str], column: int | None) -> str:
    """Returns the cell of a column; empty without one, as where a row ends early."""
    return row[column] if column is not None and column < len(row) else ""


def list_filled_columns(row: Sequence[str]) -> list[int]:
    """Returns the numbers of the columns, from 0, whose cell is not empty."""
    return [column for column, cell in enumerate(row) if cell]
