"""Tables of Word: cells by row and column, merged cells repeated where they cover, nested tables behind the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.docx_properties import find_property, qn, read_value
from knowledge.parsing.merged_cells import Across, fill_across
from knowledge.parsing.pieces import AskedEntry, Box, Enclosed, Heading, ParsedTable, Piece, Title
from knowledge.types import Notice

_TR, _TC = qn("w:tr"), qn("w:tc")
_INNER = {_TR, _TC, qn("w:p"), qn("w:tbl")}
_MAX_SPAN = 100
# Characters of a cell that tells which row a table within it belongs to.
_MAX_LABEL = 40
_APART = (BlockKind.IMAGE, BlockKind.FOOTNOTE)

# What stands in a cell.
Content = Callable[[Any], Iterable[Piece]]


@dataclass(slots=True)
class _Cells:
    """What is known of a table above the current row. after: contents of its cells that belong behind the table."""

    rows: list[list[str]] = field(default_factory=list)
    spans: list[Across] = field(default_factory=list)
    after: list[Piece] = field(default_factory=list)


def read_table(table: Any, content: Content) -> Iterator[Piece]:
    """Yields the table, then the nested tables, footnotes and pictures of its cells, each once."""
    cells = _Cells()
    rows = [row for row in _list_own(table, _TR) if find_property(row, "w:trPr", "w:hidden") is None]
    for row in rows:
        _read_row(row, cells, content)
    yield ParsedTable(fill_across(cells.rows, cells.spans), _count_header_rows(rows))
    yield from cells.after


def _read_row(row: Any, cells: _Cells, content: Content) -> None:
    above = cells.rows[-1] if cells.rows else []
    line = [""] * _read_count(row, 0, "w:trPr", "w:gridBefore")  # columns that the row leaves out
    for cell in _list_own(row, _TC):
        properties = cell.find(qn("w:tcPr"))
        down, across = (_read_merge(properties, f"w:{name}Merge") for name in ("v", "h"))
        width = _read_count(properties, 1, "w:gridSpan")
        if across == "continue" and line:  # as Word 6 did it
            _extend_span(cells, len(cells.rows), len(line), width)
            line.extend([""] * width)
            continue
        text = _read_cell_text(cell, cells, line, content)
        if down == "continue" and len(line) < len(above):
            text = above[len(line)]
        if width > 1:
            cells.spans.append(Across(len(cells.rows), len(line), width))
        line.extend([text, *[""] * (width - 1)])
    cells.rows.append(line)


def _read_cell_text(cell: Any, cells: _Cells, line: list[str], content: Content) -> str:
    """Returns the lines of a cell; other contents are put aside in `cells`. line: the cells before it in the row."""
    lines: list[str] = []
    label = next((text for text in line if text), "")
    for piece in content(cell):
        match piece:
            case ParsedTable():
                named = not piece.caption and len(label) <= _MAX_LABEL
                cells.after.append(replace(piece, caption=label) if named else piece)
            case Block(kind=kind) if kind in _APART:
                cells.after.append(piece)
            case _:
                lines.extend(_list_lines(piece))
    return "\n".join(filter(None, lines))


def _list_lines(piece: Piece) -> Iterator[str]:
    match piece:
        case Title(text) | Heading(_, text) | Block(text):
            yield text
        case Box(pieces=pieces):
            for inner in pieces:
                yield from _list_lines(inner)
        case ParsedTable() | AskedEntry() | Enclosed() | Notice():
            raise AssertionError(f"{type(piece).__name__} in a cell of Word")


def _list_own(parent: Any, tag: str) -> Iterator[Any]:
    """Yields the rows of a table or the cells of a row, in content controls too, but not those of nested tables."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag not in _INNER:
            yield from _list_own(child, tag)


def _extend_span(cells: _Cells, row: int, column: int, width: int) -> None:
    """Extends the cell before a column of a row over that column."""
    last = cells.spans[-1] if cells.spans else None
    if last and last.row == row and last.column + last.width == column:
        cells.spans[-1] = replace(last, width=last.width + width)
    else:
        cells.spans.append(Across(row, column - 1, width + 1))


def _read_merge(properties: Any, name: str) -> str:
    """Returns "restart", "continue", or "" for a cell that is not merged."""
    found = find_property(properties, name)
    return "" if found is None else found.get(qn("w:val"), "continue")


def _read_count(element: Any, least: int, *path: str) -> int:
    """Returns a number of columns: `least` if none is stated, and not more than a table has."""
    value = read_value(element, *path) or ""
    return max(least, min(int(value), _MAX_SPAN)) if value.isdecimal() else least


def _count_header_rows(rows: Iterable[Any]) -> int | None:
    """Returns how many rows are repeated on every page; None if the format marks none."""
    repeated = takewhile(lambda row: find_property(row, "w:trPr", "w:tblHeader") is not None, rows)
    return sum(1 for _ in repeated) or None
