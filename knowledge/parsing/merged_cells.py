"""Repeats the text of cells that span columns in each of them, except for names of column groups and for titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.parsing import headers

_MAX_HEADER = 3


@dataclass(frozen=True, slots=True)
class Across:
    """A cell over several columns; numbers from 0."""

    row: int
    column: int
    width: int


def fill_across(grid: Sequence[Sequence[str]], spans: Iterable[Across]) -> list[list[str]]:
    """Returns the rows with the text of such cells in each of their columns.

    Left as they are: a cell over all columns, which is a title or a note, and names of column groups, which are told by
    the columns that they leave empty.

    Args:
        grid: The rows, with the text in the first column of each cell.
        spans: The cells.
    """
    filled = [list(row) for row in grid]
    width = max(map(len, grid), default=0)
    listed = [span for span in spans if span.width < width]
    named = _find_group_rows(grid, {span.row for span in listed})
    for span in listed:
        if span.row not in named:
            end = span.column + span.width
            filled[span.row][span.column : end] = [grid[span.row][span.column]] * span.width
    return filled


def _find_group_rows(grid: Sequence[Sequence[str]], spanned: set[int]) -> set[int]:
    """Returns the rows that name groups of the columns named in the row below."""
    first = next((number for number, row in enumerate(grid) if sum(map(bool, row)) > 1), 0)
    found = set()
    for number, (upper, lower) in enumerate(pairwise(grid[first : first + _MAX_HEADER]), start=first):
        if number not in spanned or not headers.is_group_header(upper, lower):
            break
        found.add(number)
    return found
