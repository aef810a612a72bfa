"""Pages set in columns: tells them from tables, and puts them into reading order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from statistics import median

from knowledge.parsing.pdf_layout import LineCell, PageLine

# Em; the least white space between columns.
_GUTTER = 0.9
# Share of a page's lines that may go over a gutter: titles, notes below the text.
_CROSSING = 0.12
# Of the width of the text: what is wider stands over several columns.
_WIDE = 0.6
_MIN_LINES = 4
# Em of a column of prose.
_MIN_WIDTH = 8
_FULL = 0.85
# Share of lines that fill their column: prose is wrapped, cells of a table end where they end.
_MOSTLY_FULL = 0.5
# Lines of a column times their usual distance over its height: a cell of a table waits for its neighbours.
_DENSE = 0.7
_PAUSE = re.compile(r"[，。；：、！？,.;:!?]\s*[^\s\d]")
# Share of lines with a comma or a full stop within: cells of a table hold a few words, or end with the stop.
_FLOWING = 0.25
# Points; how exactly gutters are looked for.
_STEP = 2.0

_BY_HEIGHT = attrgetter("base")

# The middles of the white strips between columns, in points from the left.
Gutters = tuple[float, ...]


def order_columns(pages: Iterable[Sequence[PageLine]]) -> list[list[PageLine]]:
    """Returns pages set in columns column by column, other pages unchanged. `PageLine.column` numbers columns from
    1.
    """
    listed = [list(page) for page in pages]
    strips = [_find_strips(page) for page in listed]
    found = [_find_gutters(page, white) for page, white in zip(listed, strips, strict=True)]
    usual = {gutter for gutters in found for gutter in gutters}
    # The last page has a few lines in columns: the other pages tell that these are ones.
    return [
        _order_lines(page, gutters or tuple(gutter for gutter in usual if any(a <= gutter <= b for a, b in white)))
        for page, gutters, white in zip(listed, found, strips, strict=True)
    ]


def _find_strips(page: Sequence[PageLine]) -> list[tuple[float, float]]:
    """Returns the white strips that run from the top of the text to its bottom, few lines aside; edges in points."""
    cells = [cell for line in page for cell in line.cells]
    if len(cells) < 2:
        return []
    left, right = min(cell.left for cell in cells), max(cell.right for cell in cells)
    narrow = [cell for cell in cells if cell.right - cell.left < _WIDE * (right - left)]
    changes = [0] * (int((right - left) / _STEP) + 3)
    for cell in narrow:
        changes[int((cell.left - left) / _STEP)] += 1
        changes[int((cell.right - left) / _STEP) + 1] -= 1
    least = _GUTTER * median(line.size for line in page)
    strips, start, covering = [], 0, 0
    for index, change in enumerate(changes):
        covering += change
        if covering > _CROSSING * len(narrow):
            if (index - start) * _STEP >= least and start:
                strips.append((left + start * _STEP, left + index * _STEP))
            start = index + 1
    return strips


def _find_gutters(page: Sequence[PageLine], strips: Sequence[tuple[float, float]]) -> Gutters:
    """Returns the middles of the strips if the text between them is prose; empty for a table or a list."""
    gutters = tuple((start + end) / 2 for start, end in strips)
    if not gutters:
        return ()
    columns: dict[int, list[tuple[PageLine, LineCell]]] = defaultdict(list)
    for line in page:
        for cell in line.cells:
            if (column := _find_column(cell, gutters)) is not None:
                columns[column].append((line, cell))
    prose = len(columns) == len(gutters) + 1 and all(map(_is_prose, columns.values()))
    return gutters if prose else ()


def _is_prose(column: Sequence[tuple[PageLine, LineCell]]) -> bool:
    if len(column) < _MIN_LINES:
        return False
    left, right = min(cell.left for _, cell in column), max(cell.right for _, cell in column)
    if right - left < _MIN_WIDTH * median(line.size for line, _ in column):
        return False
    full = sum(cell.right - cell.left >= _FULL * (right - left) for _, cell in column)
    heights = sorted({line.base for line, _ in column})
    gaps = [upper - lower for lower, upper in pairwise(heights)]
    dense = bool(gaps) and len(gaps) * median(gaps) >= _DENSE * sum(gaps)
    flowing = sum(bool(_PAUSE.search(cell.text)) for _, cell in column)
    return dense and full >= _MOSTLY_FULL * len(column) and flowing >= _FLOWING * len(column)


def _find_column(cell: LineCell, gutters: Gutters) -> int | None:
    """Returns the column of a cell, from 1; None if it crosses a gutter."""
    if any(cell.left < gutter < cell.right for gutter in gutters):
        return None
    return 1 + sum(gutter < cell.left for gutter in gutters)


def _order_lines(page: list[PageLine], gutters: Gutters) -> list[PageLine]:
    """Returns the bands between lines that cross a gutter, from the top; within a band column after column."""
    if not gutters:
        return page
    over: list[PageLine] = []
    columns: dict[int, list[PageLine]] = defaultdict(list)
    for line in page:
        parts: dict[int | None, list[LineCell]] = defaultdict(list)
        for cell in line.cells:
            parts[_find_column(cell, gutters)].append(cell)
        if None in parts:
            over.append(line)
            continue
        for column, cells in parts.items():
            assert column is not None
            text = " ".join(cell.text for cell in cells)
            columns[column].append(replace(line, text=text, cells=tuple(cells), column=column))
    ordered: list[PageLine] = []
    for border in [*sorted(over, key=_BY_HEIGHT, reverse=True), None]:
        for column, lines in sorted(columns.items()):
            above = [line for line in lines if border is None or line.base > border.base]
            ordered.extend(sorted(above, key=_BY_HEIGHT, reverse=True))
            columns[column] = [line for line in lines if not (border is None or line.base > border.base)]
        if border is not None:
            ordered.append(border)
    return ordered
