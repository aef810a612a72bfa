"""Reads tables of a page as grids: merged cells are repeated where they cover, nested tables are tables of their
own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from selectolax.lexbor import LexborNode

_MAX_SPAN = 100


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells by row and column."""

    rows: list[list[str]]
    # Leading rows of header cells alone.
    headers: int
    # Each row begins with a header cell, and no row is a header.
    named: bool
    # Tables within cells, with the text of the row's first cell.
    inner: list[tuple[str, LexborNode]]


def read_grid(table: LexborNode, flat: Callable[[LexborNode], str]) -> Grid:
    """Reads a table. `flat` returns the text of a cell without its nested tables."""
    rows = [row for row in _list_rows(table) if row.css_first("td, th") is not None]
    cells = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in rows]
    kinds = [[cell.tag for cell in row] for row in cells]
    headers = sum(1 for _ in takewhile(lambda kind: "td" not in kind, kinds))
    if headers == len(kinds) > 1:
        headers = 1  # a table without any other cells
    named = not headers and bool(kinds) and all(kind and kind[0] == "th" and "td" in kind for kind in kinds)
    return Grid(_expand_cells(cells, headers, flat), headers, named, list(_list_inner_tables(cells, flat)))


def _expand_cells(
    rows: Sequence[Sequence[LexborNode]], headers: int, flat: Callable[[LexborNode], str]
) -> list[list[str]]:
    """Returns rows of texts with merged cells expanded.

    A cell of the body stands in every column and row that it covers; one of a header in its first column only, since
    blanks beside it show groups of columns. A cell as wide as the table covers nothing: it is a title or a note.
    """
    width = max((sum(_read_span(cell, "colspan") for cell in row) for row in rows), default=0)
    top = headers or sum(1 for _ in takewhile(lambda row: any(_read_span(cell, "colspan") > 1 for cell in row), rows))
    grid: list[list[str]] = []
    pending: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(rows):
        line: list[str] = []
        for cell in row:
            _fill_pending(line, pending)
            text, across = flat(cell), _read_span(cell, "colspan")
            covers = number >= top and across < width
            texts = [text, *[text if covers else ""] * (across - 1)]
            if (down := _read_span(cell, "rowspan")) > 1:
                pending |= {len(line) + at: (down - 1, one) for at, one in enumerate(texts)}
            line.extend(texts)
        _fill_pending(line, pending)
        grid.append(line)
    return grid


def _fill_pending(line: list[str], pending: dict[int, tuple[int, str]]) -> None:
    """Fills the columns at the end of `line` that cells of earlier rows still cover."""
    while (column := len(line)) in pending:
        remaining, text = pending.pop(column)
        if remaining > 1:
            pending[column] = (remaining - 1, text)
        line.append(text)


def _read_span(cell: LexborNode, attribute: str) -> int:
    value = cell.attributes.get(attribute) or "1"
    return max(1, min(_MAX_SPAN, int(value))) if re.fullmatch(r"\d{1,6}", value) else 1


def _list_rows(table: LexborNode) -> Iterator[LexborNode]:
    """Yields the rows of this table, not those of nested tables."""
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child.iter() if row.tag == "tr")


def _list_inner_tables(
    rows: Sequence[Sequence[LexborNode]], flat: Callable[[LexborNode], str]
) -> Iterator[tuple[str, LexborNode]]:
    for row in rows:
        for number, cell in enumerate(row):
            for table in list_outermost_tables(cell):
                yield flat(row[0]) if number else "", table


def list_outermost_tables(cell: LexborNode) -> Iterator[LexborNode]:
    """Yields the tables within a cell, but not those within them."""
    for child in cell.iter():
        if child.tag == "table":
            yield child
        else:
            yield from list_outermost_tables(child)
