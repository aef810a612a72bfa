"""Reads DOCX: headings by style (English and Chinese names), lists, tables and text in document order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import docx

from knowledge.blocks import Block, BlockKind
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.docx_blocks import join_blocks
from knowledge.parsing.docx_notes import Notes
from knowledge.parsing.docx_numbering import ListCounters, Number, Numbering
from knowledge.parsing.docx_omissions import report_omitted_parts
from knowledge.parsing.docx_properties import find_property, list_base_styles, qn, read_value
from knowledge.parsing.docx_tables import read_table
from knowledge.parsing.docx_text import Line, TextReader
from knowledge.parsing.docx_visibility import Visibility
from knowledge.parsing.notes import find_label_of_classes
from knowledge.parsing.omissions import Omissions, OmittedPart
from knowledge.parsing.pieces import Heading, Piece, Title, add_marker, build_item, build_picture

_HEADING = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|目录)\s*\d", re.IGNORECASE)
_TITLES = ("title", "标题")
# By the name of a style, or of one that it is based on.
_KINDS = (
    (BlockKind.CODE, re.compile(r"(?i).*\b(?:code|preformatted)\b.*|.*(?:代码|预设格式).*")),
    (BlockKind.QUOTE, re.compile(r"(?i)(?:intense |block )?(?:quote|quotations?)|(?:明显)?引用")),
    (BlockKind.CAPTION, re.compile(r"(?i)caption|题注")),
    (BlockKind.FIELD, re.compile(r"(?i)definition(?: (?:term|list))?|list (?:heading|contents)|术语|定义")),
)
_TERM = re.compile(r"(?i)definition term|list heading|术语")
_P, _TBL, _SECTION = qn("w:p"), qn("w:tbl"), qn("w:sectPr")
_GONE = ("w:del", "w:moveFrom", "w:vanish")
_SIDES = ("w:top", "w:left", "w:bottom", "w:right")
_NO_BORDER = ("nil", "none")


class DocxParser(Parser):
    """The title is the paragraph of style Title, else the only heading 1, else the file name.

    Not read, and told: headers and footers, comments, deletions that are not accepted yet, contents, charts. Hidden
    text is not read and not told: no reader sees it.
    """

    signature = b"PK\x03\x04"

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        document = docx.Document(io.BytesIO(source.content))
        if document.element.body is None:
            raise ValueError("a document without a body")
        left_out = Omissions()
        found = list(join_blocks(_BodyReader(document, left_out).read_pieces(document.element.body)))
        tops = [piece for piece in found if isinstance(piece, Heading) and piece.level == 1]
        if len(tops) > 1:  # chapters, none of which titles the document
            found = [replace(piece, level=piece.level + 1) if isinstance(piece, Heading) else piece for piece in found]
        yield from found
        yield from left_out.build_notices()


class _BodyReader:
    """Reads the body of a document into pieces."""

    def __init__(self, document: Any, left_out: Omissions) -> None:
        self._styles = {style.style_id: style for style in document.styles}
        self._default = next((style for style in self._styles.values() if _is_default(style)), None)
        self._numbering = Numbering(document, self._styles)
        self._counters = ListCounters()
        self._notes = Notes(document)
        self._left_out = left_out
        visibility = Visibility(document, self._styles, self._default)
        self._texts = TextReader(visibility, self._notes, left_out, document.part.related_parts)
        self._cells = 0
        self._titled = False
        self._kinds: dict[str, BlockKind] = {}
        report_omitted_parts(document, visibility, left_out)

    def read_pieces(self, parent: Any) -> Iterator[Piece]:
        for element in parent:
            if element.tag == _P:
                yield from self._read_paragraph(element)
            elif element.tag == _TBL:
                yield from read_table(element, self._read_cell)
            elif element.tag in (qn("w:del"), qn("w:moveFrom")):
                self._texts.count_deleted(element)
            elif element.tag == qn("w:altChunk"):
                self._left_out.add(OmittedPart.EMBEDDED, "")
            elif element.tag != _SECTION:  # content controls and other wrappers
                yield from self.read_pieces(element)

    def _read_cell(self, cell: Any) -> Iterator[Piece]:
        self._cells += 1
        yield from join_blocks(self.read_pieces(cell))
        self._cells -= 1

    def _read_paragraph(self, element: Any) -> Iterator[Piece]:
        style = self._styles.get(read_value(element, "w:pPr", "w:pStyle") or "", self._default)
        name = (style.name or "").strip() if style is not None else ""
        line = self._texts.read(element)
        number = self._get_number(element, style, line)
        if _CONTENTS.match(name):
            self._left_out.add(OmittedPart.CONTENTS, line.text)
        else:
            yield from self._build_pieces(element, line, number, style, name)
            yield from self._read_anchored(line, number.level + 1 if number and number.marker else 0)
        if find_property(element, "w:pPr", "w:sectPr") is not None:
            self._notes.end_section()

    def _build_pieces(self, element: Any, line: Line, number: Number | None, style: Any, name: str) -> Iterator[Piece]:
        text = line.text.strip()
        kind, label = self._get_kind(style), ""
        if kind is BlockKind.PARAGRAPH and _is_framed(element):
            kind = BlockKind.NOTE
        if kind is BlockKind.FIELD and _TERM.fullmatch(name):
            label = text
        elif kind is BlockKind.NOTE:
            label = _find_note_label(name) or "note"
        if kind is BlockKind.CODE:
            yield Block(line.text.rstrip(), kind=kind)
            return
        marker = number.marker if number else ""
        if not text:
            if marker and self._cells:  # a column of numbers
                yield Block(marker)
            return
        if level := _HEADING.fullmatch(name):
            yield Heading(int(level.group(1)), _add_number(marker, _remove_note_marks(line, text)))
        elif name.lower() in _TITLES:
            yield Heading(1, _remove_note_marks(line, text)) if self._titled else Title(_remove_note_marks(line, text))
            self._titled = True
        elif number and marker:
            yield build_item(marker, text, number.level)
        else:
            yield Block(text, kind=BlockKind.FORMULA if line.is_formula else kind, label=label)

    def _read_anchored(self, line: Line, level: int) -> Iterator[Piece]:
        """Yields what a paragraph refers to or contains: pictures, text boxes, notes. `level` is that of the list
        around it.
        """
        for alternative in line.pictures:
            yield from build_picture(alternative, level)
        for box in line.boxes:
            counters, self._counters = self._counters, ListCounters()
            yield from self.read_pieces(box)
            self._counters = counters
        for note in line.notes:
            text = self._texts.read_note(note)
            yield Block(f"{note.mark} {text}", kind=BlockKind.FOOTNOTE, level=level, marker=note.mark)

    def _get_number(self, element: Any, style: Any, line: Line) -> Number | None:
        """Returns the number that Word counts for a paragraph; hidden and wholly deleted paragraphs have none."""
        mark = find_property(element, "w:pPr", "w:rPr")
        if mark is not None and not line.text.strip() and any(mark.find(qn(tag)) is not None for tag in _GONE):
            return None
        return self._numbering.count_paragraph(element, style.style_id if style is not None else "", self._counters)

    def _get_kind(self, style: Any) -> BlockKind:
        identifier = style.style_id if style is not None else ""
        if identifier not in self._kinds:
            self._kinds[identifier] = next(self._list_kinds(identifier), BlockKind.PARAGRAPH)
        return self._kinds[identifier]

    def _list_kinds(self, identifier: str) -> Iterator[BlockKind]:
        """Yields the kind of a style, then those of the styles that it is based on."""
        for style in list_base_styles(self._styles, identifier):
            name = (style.name or "").strip()
            yield from (kind for kind, pattern in _KINDS if pattern.fullmatch(name))
            if _find_note_label(name) or _is_framed(style.element):
                yield BlockKind.NOTE


def _add_number(marker: str, text: str) -> str:
    """Returns a heading with its number, on one line."""
    text = " ".join(text.split())
    return add_marker(marker, text) if text else text


def _remove_note_marks(line: Line, text: str) -> str:
    """Removes the marks of notes from a heading: they are no part of its name."""
    for note in line.notes:
        text = text.replace(note.mark, "", 1)
    return text.strip()


def _find_note_label(style_name: str) -> str:
    """Returns the label of a style for boxes (Warning, Tip Box, 注意); empty for others, such as Note Heading."""
    return find_label_of_classes(style_name.replace(" ", "-")) or ""


def _is_framed(element: Any) -> bool:
    """Returns whether a paragraph, or its style, has a border on all sides, so that it stands in a box."""
    borders = find_property(element, "w:pPr", "w:pBdr")
    sides = [] if borders is None else [borders.find(qn(side)) for side in _SIDES]
    return bool(sides) and all(side is not None and side.get(qn("w:val")) not in _NO_BORDER for side in sides)


def _is_default(style: Any) -> bool:
    return style.element.get(qn("w:default")) in ("1", "true") and style.element.get(qn("w:type")) == "paragraph"
