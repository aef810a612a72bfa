"""PPTX: slide by slide, in the order in which a slide is read; the number of a slide is its page."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER

from knowledge.errors import DocumentTooLarge
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.pieces import Heading, ParsedTable, Piece, Text, Title, item
from knowledge.types import Notice, NoticeCode

_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE)
_FURNITURE = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
_SLIDE_LEVEL = 2
"""Below 1: a slide does not title the document."""
_MAX_DEPTH = 20
"""Groups in groups."""
_SMALLEST = 1.5
"""Points; smaller text is not seen."""
_ROW = 0.02
"""Of a slide's height: shapes that begin within it stand beside each other."""


class PptxParser(Parser):
    """The title is that of the first slide. Hidden slides and shapes and speakers' notes are not read."""

    signature = b"PK\x03\x04"

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        deck = Presentation(io.BytesIO(source.content))
        size = deck.slide_width or 1, deck.slide_height or 1
        if len(deck.slides) > source.limits.max_pages:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_pages} 页的上限，请拆分后再上传")
        pictured = []
        for number, slide in enumerate(deck.slides, start=1):
            if slide._element.get("show") in ("0", "false"):
                continue
            shapes = list(_visible(slide.shapes, size))
            found = list(_slide(shapes, number))
            if number == 1 and found and isinstance(found[0], Heading):
                yield Title(found[0].text)
            yield from found
            if not found and any(shape.shape_type == MSO_SHAPE_TYPE.PICTURE for shape in shapes):
                pictured.append(number)
        if pictured:
            names = "、".join(map(str, pictured))
            yield Notice(
                NoticeCode.PAGES_WITHOUT_TEXT, f"第 {names} 页只有图片、没有文字，内容没有入库", tuple(pictured)
            )


def _visible(shapes: Iterable[Any], size: tuple[int, int], depth: int = 0) -> Iterator[Any]:
    """Shapes in reading order: by row, then from the left; those of a group in its place."""
    width, height = size

    def place(shape: Any) -> tuple[float, int]:
        return (shape.top or 0) // (_ROW * height), shape.left or 0

    for shape in sorted(shapes, key=place):
        if shape._element._nvXxPr.cNvPr.get("hidden") in ("1", "true") or _away(shape, width, height, depth):
            continue
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth < _MAX_DEPTH:
                yield from _visible(shape.shapes, size, depth + 1)
        else:
            yield shape


def _away(shape: Any, width: int, height: int, depth: int) -> bool:
    """Whether it stands beside the slide; coordinates within a group are the group's own."""
    if depth or None in (shape.left, shape.top, shape.width, shape.height):
        return False
    return bool(
        shape.left >= width or shape.top >= height or shape.left + shape.width <= 0 or shape.top + shape.height <= 0
    )


def _slide(shapes: Iterable[Any], number: int) -> Iterator[Piece]:
    """The title first, wherever it stands."""
    listed = list(shapes)
    for title in filter(_is_title, listed):
        if text := " ".join(line.text for line in _texts(title, number)):
            yield Heading(_SLIDE_LEVEL, text, number)
    for shape in listed:
        if _is_title(shape) or _kind(shape) in _FURNITURE:
            continue
        if shape.has_text_frame:
            yield from _texts(shape, number)
        elif getattr(shape, "has_table", False):
            yield _table(shape.table, number)


def _is_title(shape: Any) -> bool:
    return _kind(shape) in _TITLES


def _kind(shape: Any) -> Any:
    return shape.placeholder_format.type if shape.is_placeholder else None


def _texts(shape: Any, number: int) -> Iterator[Text]:
    """Paragraphs of a shape; those of deeper levels are items."""
    if not shape.has_text_frame:
        return
    for paragraph in shape.text_frame.paragraphs:
        text = "".join(run.text for run in paragraph.runs if run.font.size is None or run.font.size.pt >= _SMALLEST)
        if text := text.replace("\v", "\n").strip():
            yield item("-", text, paragraph.level, number) if paragraph.level else Text(text, number)


def _table(table: Any, number: int) -> ParsedTable:
    """A cell that is merged downwards is repeated in each row."""
    grid: list[list[str]] = []
    for row in table.rows:
        line: list[str] = []
        for column, cell in enumerate(row.cells):
            above = grid[-1][column] if grid and cell.is_spanned and cell._tc.vMerge else ""
            line.append(above or cell.text.replace("\v", "\n").strip())
        grid.append(line)
    return ParsedTable(grid, 1 if table.first_row else None, certain=False, page=number)
