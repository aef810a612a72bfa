"""What lines are by their marks, where no format says it: items of lists and rows of tables."""

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
    """What makes a line an item of a list: "1.", "①", "•"; "" where it is none."""
    found = _ITEM.match(line)
    return found["marker"] if found else ""


@lru_cache(maxsize=8192)
def guess_spans(text: str) -> tuple[Span, ...]:
    """Of a text whose blocks nobody knows: a page, a reply, a chunk of a base that was read before blocks had kinds."""
    return tuple(_build_span(text, *line.span()) for line in re.finditer(r"[^\r\n]+", text) if not line[0].isspace())


def _build_span(text: str, start: int, end: int) -> Span:
    line = text[start:end]
    if marker := find_item_marker(line):
        return Span(start, end, BlockKind.ITEM, marker=marker)
    if _ROW.fullmatch(line.strip()):
        return Span(start, end, BlockKind.ROW, cells=split_cells(line.strip()))
    return Span(start, end, BlockKind.PARAGRAPH)


def split_cells(row: str) -> tuple[tuple[str, str], ...]:
    """Of 列名：值；列名：值; what stands after a semicolon without a name belongs to the value before it."""
    cells: list[tuple[str, str]] = []
    for part in row.rstrip("。").split("；"):
        name, colon, value = part.partition("：")
        if colon or not cells:
            cells.append((name.strip(), value.strip()) if colon else ("", part.strip()))
        else:
            name, value = cells.pop()
            cells.append((name, f"{value}；{part.strip()}"))
    return tuple(cells)
