"""Finds where one table of a sheet ends and another begins: blank rows, rows of a single cell, empty columns
between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from knowledge.parsing.cells import list_filled_columns
from knowledge.parsing.characters import remove_unseen

Row = list[str]
# From, up to and without.
Columns = tuple[int, int]


class SheetLine(NamedTuple):
    """A row of a sheet. number: from 1, blank rows counted; cells: as shown; raw: as given."""

    number: int
    cells: Row
    raw: Sequence[str]

    @property
    def blank(self) -> bool:
        """Whether the row is empty."""
        return not any(self.cells)


def read_lines(rows: Iterable[Sequence[str]]) -> Iterator[SheetLine]:
    """Yields the rows, without those that only repeat what cells merged downwards said in the row above."""
    above: Row = []
    for number, row in enumerate(rows, start=1):
        cells = [remove_unseen(cell).strip() for cell in row]
        columns = list_filled_columns(cells)
        if (
            columns
            and len(columns) < max(len(list_filled_columns(above)), 2)
            and all(column < len(above) and above[column] == cells[column] for column in columns)
        ):
            continue
        above = cells
        yield SheetLine(number, cells, row)


def split_bands(lines: Iterable[SheetLine]) -> Iterator[Iterator[SheetLine]]:
    """Yields the lines between blank ones; each band is to be read before the next."""
    for blank, band in groupby(lines, key=lambda line: line.blank):
        if not blank:
            yield band


def split_columns(rows: Sequence[Sequence[str]]) -> tuple[list[Columns], bool]:
    """Returns the columns of the tables that stand side by side, and whether that is certain.

    One table with an empty column in it is as high on both sides and has no name twice.
    """
    full = [row for row in rows if len(list_filled_columns(row)) > 1]
    used = sorted({column for row in full for column in list_filled_columns(row)})
    groups: list[list[int]] = []
    for column in used:
        if groups and column == groups[-1][-1] + 1:
            groups[-1].append(column)
        else:
            groups.append([column])
    parts: list[Columns] = []
    for group in groups:
        if parts and len(group) == 1:
            parts[-1] = parts[-1][0], group[-1] + 1
        else:
            parts.append((group[0], group[-1] + 1))
    if len(parts) > 1 and parts[0][1] - parts[0][0] == 1:
        parts[:2] = [(parts[0][0], parts[1][1])]
    if len(parts) < 2 or len(full) < 2:
        return [(0, max(map(len, rows), default=0))], True
    certain = any(_is_apart(full, left, right) for left, right in pairwise(parts))
    return parts, certain


def cut_columns(lines: Iterable[SheetLine], columns: Columns, *, first: bool) -> Iterator[SheetLine]:
    """Yields the lines with only the cells of some columns; `first`: also with the cells that belong to no table."""
    start, end = (0 if first else columns[0]), columns[1]
    for line in lines:
        yield SheetLine(line.number, ["" if at < start else cell for at, cell in enumerate(line.cells[:end])], line.raw)


def _is_apart(rows: Sequence[Sequence[str]], left: Columns, right: Columns) -> bool:
    """Returns whether one group of columns continues where the other has ended, or both begin with the same name."""
    sides = [[any(row[start:end]) for row in rows] for start, end in (left, right)]
    names = [{cell for cell in next((row[a:b] for row in rows if any(row[a:b])), []) if cell} for a, b in (left, right)]
    ends = [max(number for number, there in enumerate(side) if there) for side in sides]
    starts = [side.index(True) for side in sides]
    return ends[0] != ends[1] or starts[0] != starts[1] or bool(names[0] & names[1])
