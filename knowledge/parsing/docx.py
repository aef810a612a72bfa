"""DOCX: headings by style (English and Chinese names), lists, tables and text in document order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import docx

from knowledge.blocks import BlockKind
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.docx_joining import joined
from knowledge.parsing.docx_names import qn
from knowledge.parsing.docx_notes import Notes
from knowledge.parsing.docx_numbering import ListCounters, Number, Numbering
from knowledge.parsing.docx_outside import leave_out_parts
from knowledge.parsing.docx_tables import table_pieces
from knowledge.parsing.docx_text import Line, TextReader
from knowledge.parsing.docx_visibility import Visibility
from knowledge.parsing.left_out import LeftOut, OmittedPart
from knowledge.parsing.notes import label_of_classes
from knowledge.parsing.pieces import Heading, Piece, TextPiece, Title, item, marked, picture

_HEADING = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|目录)\s*\d", re.IGNORECASE)
_TITLES = ("title", "标题")
_KINDS = (
    (BlockKind.CODE, re.compile(r"(?i).*\b(?:code|preformatted)\b.*|.*(?:代码|预设格式).*")),
    (BlockKind.QUOTE, re.compile(r"(?i)(?:intense |block )?(?:quote|quotations?)|(?:明显)?引用")),
    (BlockKind.CAPTION, re.compile(r"(?i)caption|题注")),
    (BlockKind.FIELD, re.compile(r"(?i)definition(?: (?:term|list))?|list (?:heading|contents)|术语|定义")),
)
"""By the name of a style, or of one that it is based on."""
_TERM = re.compile(r"(?i)definition term|list heading|术语")
_P, _TBL, _SECTION = qn("w:p"), qn("w:tbl"), qn("w:sectPr")
_MARK = f"{qn('w:pPr')}/{qn('w:rPr')}"
_GONE = ("w:del", "w:moveFrom", "w:vanish")
_SIDES = ("w:top", "w:left", "w:bottom", "w:right")
_NO_BORDER = ("nil", "none")
_DEEPEST_STYLE = 20


class DocxParser(Parser):
    """The title is the paragraph of style Title, else the only heading 1, else the file name.

    Not read, and told: headers and footers, comments, deletions that are not accepted yet, contents, charts. Hidden
    text is not read and not told: no reader sees it.
    """

    signature = b"PK\x03\x04"

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        document = docx.Document(io.BytesIO(source.content))
        if document.element.body is None:
            raise ValueError("a document without a body")
        left_out = LeftOut()
        found = list(joined(_Reader(document, left_out).pieces(document.element.body)))
        tops = [piece for piece in found if isinstance(piece, Heading) and piece.level == 1]
        if len(tops) > 1:  # chapters, none of which titles the document
            found = [replace(piece, level=piece.level + 1) if isinstance(piece, Heading) else piece for piece in found]
        yield from found
        yield from left_out.notices()


class _Reader:
    def __init__(self, document: Any, left_out: LeftOut) -> None:
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
        leave_out_parts(document, visibility, left_out)

    def pieces(self, parent: Any) -> Iterator[Piece]:
        for element in parent:
            if element.tag == _P:
                yield from self._paragraph(element)
            elif element.tag == _TBL:
                yield from table_pieces(element, self._cell)
            elif element.tag in (qn("w:del"), qn("w:moveFrom")):
                self._texts.deleted(element)
            elif element.tag == qn("w:altChunk"):
                self._left_out.add(OmittedPart.EMBEDDED, "")
            elif element.tag != _SECTION:  # content controls and other wrappers
                yield from self.pieces(element)

    def _cell(self, cell: Any) -> Iterator[Piece]:
        self._cells += 1
        yield from joined(self.pieces(cell))
        self._cells -= 1

    def _paragraph(self, element: Any) -> Iterator[Piece]:
        style = self._style(element)
        name = (style.name or "").strip() if style is not None else ""
        line = self._texts.read(element)
        number = self._number(element, style, line)
        if _CONTENTS.match(name):
            self._left_out.add(OmittedPart.CONTENTS, line.text)
        else:
            yield from self._main(element, line, number, style, name)
            yield from self._anchored(line, number.level + 1 if number and number.marker else 0)
        if element.find(f"{qn('w:pPr')}/{_SECTION}") is not None:
            self._notes.end_section()

    def _main(self, element: Any, line: Line, number: Number | None, style: Any, name: str) -> Iterator[Piece]:
        text = line.text.strip()
        kind, label = self._kind(style), ""
        if kind is BlockKind.PARAGRAPH and _is_framed(element):
            kind = BlockKind.NOTE
        if kind is BlockKind.FIELD and _TERM.fullmatch(name):
            label = text
        elif kind is BlockKind.NOTE:
            label = _note_label(name) or "note"
        if kind is BlockKind.CODE:
            yield TextPiece(line.text.rstrip(), kind=kind)
            return
        marker = number.marker if number else ""
        if not text:
            if marker and self._cells:  # a column of numbers
                yield TextPiece(marker)
            return
        if level := _HEADING.fullmatch(name):
            yield Heading(int(level.group(1)), _numbered(marker, _without_marks(line, text)))
        elif name.lower() in _TITLES:
            yield Heading(1, _without_marks(line, text)) if self._titled else Title(_without_marks(line, text))
            self._titled = True
        elif number and marker:
            yield item(marker, text, number.level)
        else:
            yield TextPiece(text, kind=BlockKind.FORMULA if line.is_formula else kind, label=label)

    def _anchored(self, line: Line, level: int) -> Iterator[Piece]:
        """What a paragraph refers to, or holds in its place: pictures, text boxes, notes. level: of a list."""
        for alternative in line.pictures:
            yield from picture(alternative, level)
        for box in line.boxes:
            counters, self._counters = self._counters, ListCounters()
            yield from self.pieces(box)
            self._counters = counters
        for note in line.notes:
            text = self._texts.note_text(note)
            yield TextPiece(f"{note.mark} {text}", kind=BlockKind.FOOTNOTE, level=level, marker=note.mark)

    def _number(self, element: Any, style: Any, line: Line) -> Number | None:
        """What Word counts: not a paragraph that is hidden, or deleted as a whole."""
        mark = element.find(_MARK)
        if mark is not None and not line.text.strip() and any(mark.find(qn(tag)) is not None for tag in _GONE):
            return None
        return self._numbering.number(element, style.style_id if style is not None else "", self._counters)

    def _style(self, element: Any) -> Any:
        identifier = element.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return self._default if identifier is None else self._styles.get(identifier.get(qn("w:val")), self._default)

    def _kind(self, style: Any) -> BlockKind:
        identifier = style.style_id if style is not None else ""
        if identifier not in self._kinds:
            self._kinds[identifier] = next(self._kinds_of(style), BlockKind.PARAGRAPH)
        return self._kinds[identifier]

    def _kinds_of(self, style: Any) -> Iterator[BlockKind]:
        """That of a style, before those of the styles that it is based on."""
        for _ in range(_DEEPEST_STYLE):
            if style is None:
                return
            name = (style.name or "").strip()
            yield from (kind for kind, pattern in _KINDS if pattern.fullmatch(name))
            if _note_label(name) or _is_framed(style.element):
                yield BlockKind.NOTE
            base = style.element.find(qn("w:basedOn"))
            style = self._styles.get(base.get(qn("w:val"))) if base is not None else None


def _numbered(marker: str, text: str) -> str:
    """A heading with its number; its lines are one."""
    text = " ".join(text.split())
    return marked(marker, text) if text else text


def _without_marks(line: Line, text: str) -> str:
    """A heading is a name: the marks of its notes are none of it."""
    for note in line.notes:
        text = text.replace(note.mark, "", 1)
    return text.strip()


def _note_label(style_name: str) -> str:
    """Of a style for boxes beside the text, Warning, Tip Box, 注意; empty for any other, Note Heading for one."""
    return label_of_classes(style_name.replace(" ", "-")) or ""


def _is_framed(element: Any) -> bool:
    """Whether a paragraph, or one of a style, has a border on all sides: it stands in a box."""
    borders = element.find(f"{qn('w:pPr')}/{qn('w:pBdr')}")
    sides = [] if borders is None else [borders.find(qn(side)) for side in _SIDES]
    return bool(sides) and all(side is not None and side.get(qn("w:val")) not in _NO_BORDER for side in sides)


def _is_default(style: Any) -> bool:
    return style.element.get(qn("w:default")) in ("1", "true") and style.element.get(qn("w:type")) == "paragraph"
