"""Recognises list items and table rows by their marks, for texts whose format says nothing about them."""

from __future__ import annotations

import re
from functools import lru_cache

from knowledge.blocks import BlockKind, Span

_ITEM = re.compile(
    r"\s*(?P<marker>[-*+◦](?=\s)|[•·●▪○■□◆➢✓]|\d{1,2}(?:[.)](?=\s)|\.(?=[^\W\d])|[、）．](?!\s*\d))|[（(]\d{1,2}[)）]|[①-⑳]"
    r"|第[一二三四五六七八九十\d]+步|步骤\s*[一二三四五六七八九十\d]+)\s*(?=\S)"
)
_ROW = re.compile(r"[^：；。]{1,40}：[^；]*；[^：；。]{1,40}：.*")


def find_item_marker(line: str) -> str:
    """Returns what marks a line as a list item: "1.", "①", "•"; empty if it is none."""
    found = _ITEM.match(line)
    return found["marker"] if found else ""


@lru_cache(maxsize=8192)
def guess_spans(text: str) -> tuple[Span, ...]:
    """Guesses the spans of a text whose blocks are unknown: a page, a reply, or a chunk stored before blocks had
    kinds.
    """
    return tuple(_build_span(text, *line.span()) for line in re.finditer(r"[^\r\n]+", text) if not line[0].isspace())


def _build_span(text: str, start: int, end: int) -> Span:
    line = text[start:end]
    if marker := find_item_marker(line):
        return Span(start, end, BlockKind.ITEM, marker=marker)
    if _ROW.fullmatch(line.strip()):
        return Span(start, end, BlockKind.ROW, cells=split_cells(line.strip()))
    return Span(start, end, BlockKind.PARAGRAPH)


def split_cells(row: str) -> tuple[tuple[str, str], ...]:
    """Splits a row 列名：值；列名：值 into names and values; a part without a name belongs to the value before it."""
    cells: list[tuple[str, str]] = []
    for part in row.rstrip("。").split("；"):
        name, colon, value = part.partition("：")
        if colon or not cells:
            cells.append((name.strip(), value.strip()) if colon else ("", part.strip()))
        else:
            name, value = cells.pop()
            cells.append((name, f"{value}；{part.strip()}"))
    return tuple(cells)
