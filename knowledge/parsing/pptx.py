"""Reads PPTX slide by slide, in the order in which a slide is read; slide numbers are pages."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.oxml.ns import qn

from knowledge.blocks import Block, BlockKind
from knowledge.errors import DocumentTooLarge
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.merged_cells import Across, fill_across
from knowledge.parsing.omissions import Omissions, OmittedPart
from knowledge.parsing.pieces import Heading, ParsedTable, Piece, Title, build_picture
from knowledge.parsing.pptx_omissions import report_hidden_slide, report_masters, report_slide_extras
from knowledge.parsing.pptx_text import read_paragraphs
from knowledge.types import Notice, NoticeCode

_TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE)
_FURNITURE = (PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.HEADER)
# Below 1: a slide does not title the document.
_SLIDE_LEVEL = 2
# Groups in groups.
_MAX_DEPTH = 20
# Of a slide's height: shapes that begin within it stand beside each other.
_ROW = 0.02


class PptxParser(Parser):
    """The title is that of the first slide.

    Not read, and told: hidden slides, speakers' notes, footers, comments, charts, what stands on masters. Shapes that
    are hidden or beside the slide are not read and not told: nobody sees them.
    """

    signature = b"PK\x03\x04"

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        deck = Presentation(io.BytesIO(source.content))
        size = deck.slide_width or 1, deck.slide_height or 1
        if len(deck.slides) > source.limits.max_pages:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_pages} 页的上限，请拆分后再上传")
        pictured = []
        left_out = Omissions()
        layouts = []
        for number, slide in enumerate(deck.slides, start=1):
            if slide._element.get("show") in ("0", "false"):
                report_hidden_slide(slide, number, left_out)
                continue
            layouts.append(slide.slide_layout)
            shapes = list(_list_visible(slide.shapes, size))
            found = list(_read_slide(shapes, number, left_out))
            report_slide_extras(slide, number, left_out)
            if number == 1 and found and isinstance(found[0], Heading):
                yield Title(found[0].text)
                if len(found) == 1 < len(deck.slides):  # a cover: it titles the deck and heads nothing
                    continue
            yield from found
            written = any(not isinstance(piece, Block) or piece.kind is not BlockKind.IMAGE for piece in found)
            if not written and any(shape.shape_type == MSO_SHAPE_TYPE.PICTURE for shape in shapes):
                pictured.append(number)
        if pictured:
            names = "、".join(map(str, pictured))
            yield Notice(
                NoticeCode.PAGES_WITHOUT_TEXT, f"第 {names} 页只有图片、没有文字，内容没有入库", tuple(pictured)
            )
        report_masters(layouts, left_out)
        yield from left_out.build_notices()


def _list_visible(shapes: Iterable[Any], size: tuple[int, int], depth: int = 0) -> Iterator[Any]:
    """Yields shapes in reading order: by row, then from the left; those of a group at its place."""
    width, height = size

    def get_place(shape: Any) -> tuple[float, int]:
        return (shape.top or 0) // (_ROW * height), shape.left or 0

    for shape in sorted(shapes, key=get_place):
        if _read_property(shape, "hidden") in ("1", "true") or _is_away(shape, width, height, depth):
            continue
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            if depth < _MAX_DEPTH:
                yield from _list_visible(shape.shapes, size, depth + 1)
        else:
            yield shape


def _is_away(shape: Any, width: int, height: int, depth: int) -> bool:
    """Returns whether a shape is beside the slide; coordinates within a group are the group's own."""
    if depth or None in (shape.left, shape.top, shape.width, shape.height):
        return False
    return bool(
        shape.left >= width or shape.top >= height or shape.left + shape.width <= 0 or shape.top + shape.height <= 0
    )


def _read_property(shape: Any, attribute: str) -> str:
    """Returns a non-visual property of a shape."""
    properties = next(shape._element.iter(qn("p:cNvPr")), None)
    return properties.get(attribute) or "" if properties is not None else ""


def _read_slide(shapes: Iterable[Any], number: int, left_out: Omissions) -> Iterator[Piece]:
    """Yields the pieces of a slide, its title first, wherever it stands."""
    listed = list(shapes)
    for title in filter(_is_title, listed):
        if text := " ".join(line.text for line in _read_texts(title, number, left_out)):
            yield Heading(_SLIDE_LEVEL, text, number)
    for shape in listed:
        if _is_title(shape):
            continue
        if _get_placeholder_kind(shape) in _FURNITURE:
            left_out.add(OmittedPart.FOOTER, shape.text_frame.text if shape.has_text_frame else "", number)
        elif shape.has_text_frame:
            yield from _read_texts(shape, number, left_out)
        elif getattr(shape, "has_table", False):
            yield _read_table(shape.table, number, left_out)
        elif shape.shape_type in (MSO_SHAPE_TYPE.EMBEDDED_OLE_OBJECT, MSO_SHAPE_TYPE.LINKED_OLE_OBJECT):
            left_out.add(OmittedPart.EMBEDDED, "", number)
        else:
            yield from build_picture(_read_property(shape, "descr"), page=number)


def _is_title(shape: Any) -> bool:
    return _get_placeholder_kind(shape) in _TITLES


def _get_placeholder_kind(shape: Any) -> Any:
    return shape.placeholder_format.type if shape.is_placeholder else None


def _read_texts(shape: Any, number: int, left_out: Omissions) -> Iterator[Block]:
    return read_paragraphs(shape.text_frame._txBody, number, left_out) if shape.has_text_frame else iter(())


def _read_table(table: Any, number: int, left_out: Omissions) -> ParsedTable:
    """Returns a table; a merged cell is repeated in each row and column that it covers."""
    grid: list[list[str]] = []
    spans: list[Across] = []
    for row in table.rows:
        line: list[str] = []
        for column, cell in enumerate(row.cells):
            above = grid[-1][column] if grid and cell.is_spanned and cell._tc.vMerge else ""
            line.append(
                above or "\n".join(text.text for text in read_paragraphs(cell.text_frame._txBody, number, left_out))
            )
            if cell._tc.gridSpan > 1 and not cell._tc.hMerge:
                spans.append(Across(len(grid), column, cell._tc.gridSpan))
        grid.append(line)
    return ParsedTable(fill_across(grid, spans), 1 if table.first_row else None, certain=False, page=number)
