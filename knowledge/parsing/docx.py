"""DOCX: headings by style (English and Chinese names), lists, tables and text in document order."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import docx
from docx.oxml.ns import qn

from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.docx_visibility import Visibility
from knowledge.parsing.pieces import Heading, ParsedTable, Piece, Text, Title, item

_HEADING = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|目录)\s*\d", re.IGNORECASE)
_TITLES = ("title", "标题")
_P, _TBL, _TR, _TC = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_VAL = qn("w:val")
_VISIBLE = {qn("w:t"), qn("w:tab"), qn("w:br"), qn("w:cr"), qn("w:noBreakHyphen")}
_BREAKS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_MAX_SPAN = 100


class DocxParser(Parser):
    """The title is the paragraph of style Title, else the only heading 1, else the file name."""

    signature = b"PK\x03\x04"

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        document = docx.Document(io.BytesIO(source.content))
        found = list(_Reader(document).pieces(document.element.body))
        tops = [piece for piece in found if isinstance(piece, Heading) and piece.level == 1]
        if len(tops) > 1:  # chapters, none of which titles the document
            found = [Heading(piece.level + 1, piece.text) if isinstance(piece, Heading) else piece for piece in found]
        yield from found


class _Reader:
    def __init__(self, document: Any) -> None:
        self._styles = {style.style_id: style for style in document.styles}
        self._default = next((style for style in self._styles.values() if _is_default(style)), None)
        self._visibility = Visibility(document, self._styles, self._default)
        self._formats = _number_formats(document)
        self._numbers: dict[tuple[str, int], int] = {}

    def pieces(self, parent: Any) -> Iterator[Piece]:
        for element in parent:
            if element.tag == _P:
                yield from self._paragraph(element)
            elif element.tag == _TBL:
                yield ParsedTable(self._grid(element), _header_rows(element))
            elif element.tag != qn("w:sectPr"):  # content controls and other wrappers
                yield from self.pieces(element)

    def _paragraph(self, element: Any) -> Iterator[Piece]:
        text = self._text(element).strip()
        style = self._style(element)
        name = (style.name or "").strip() if style is not None else ""
        if not text or _CONTENTS.match(name):
            return
        level = _HEADING.fullmatch(name)
        if level:
            yield Heading(int(level.group(1)), text)
        elif name.lower() in _TITLES:
            yield Title(text)
        else:
            depth, marker = self._marker(element, style)
            yield item(marker, text, depth) if marker else Text(text)

    def _style(self, element: Any) -> Any:
        identifier = element.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return self._default if identifier is None else self._styles.get(identifier.get(_VAL), self._default)

    def _marker(self, element: Any, style: Any) -> tuple[int, str]:
        """The list item's level and "1." (with the number that Word would show) or "-"; empty outside lists."""
        numbering = element.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
        if numbering is None and style is not None:
            numbering = style.element.find(f"{qn('w:pPr')}/{qn('w:numPr')}")
        identifier = numbering.find(qn("w:numId")) if numbering is not None else None
        if identifier is None or identifier.get(_VAL) == "0":
            return 0, ""
        depth = numbering.find(qn("w:ilvl"))
        key = (identifier.get(_VAL), int(depth.get(_VAL)) if depth is not None else 0)
        if self._formats.get(key, "bullet") in ("bullet", "none"):
            return key[1], "-"
        self._numbers = {other: n for other, n in self._numbers.items() if other[0] != key[0] or other[1] <= key[1]}
        self._numbers[key] = self._numbers.get(key, 0) + 1
        return key[1], f"{self._numbers[key]}."

    def _text(self, element: Any) -> str:
        """Visible text: hyperlinks, insertions, text boxes; no deletions, no duplicates for old readers."""
        parts = []
        away = self._visibility.off_page
        for node in element.iter(*_VISIBLE):
            parents = list(node.iterancestors())
            if any(parent.tag == _FALLBACK or (parent.tag == _P and away(parent)) for parent in parents):
                continue
            if self._visibility.shows(node):
                parts.append(_BREAKS.get(node.tag) or node.text or "")
        return "".join(parts)

    def _grid(self, table: Any) -> list[list[str]]:
        """Cells by row and column; a cell merged downwards is repeated in each row, one merged across is not."""
        grid: list[list[str]] = []
        for row in table.iterfind(f".//{_TR}"):
            line: list[str] = []
            for cell in row.iterfind(_TC):
                merged = cell.find(f"{qn('w:tcPr')}/{qn('w:vMerge')}")
                above = grid[-1] if grid else []
                if merged is not None and merged.get(_VAL) != "restart" and len(line) < len(above):
                    text = above[len(line)]
                else:
                    text = "\n".join(filter(None, (self._text(paragraph).strip() for paragraph in cell.iter(_P))))
                span = cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")
                width = min(int(span.get(_VAL)), _MAX_SPAN) if span is not None else 1
                line.extend([text, *[""] * (width - 1)])
            grid.append(line)
        return grid


def _header_rows(table: Any) -> int | None:
    """Rows that are to be repeated on every page; None without such rows."""
    rows = table.iterfind(f".//{_TR}")
    return (
        sum(1 for _ in takewhile(lambda row: row.find(f"{qn('w:trPr')}/{qn('w:tblHeader')}") is not None, rows)) or None
    )


def _is_default(style: Any) -> bool:
    return style.element.get(qn("w:default")) in ("1", "true") and style.element.get(qn("w:type")) == "paragraph"


def _number_formats(document: Any) -> dict[tuple[str, int], str]:
    """Number format of every list and depth, for example {("3", 0): "decimal"}; empty without lists."""
    parts = document.part.package.iter_parts()
    numbering = next((part for part in parts if part.partname == "/word/numbering.xml"), None)
    if numbering is None:
        return {}
    root = numbering.element
    abstract = {
        item.get(qn("w:abstractNumId")): {
            int(level.get(qn("w:ilvl"))): level.find(qn("w:numFmt")).get(_VAL)
            for level in item.iterfind(qn("w:lvl"))
            if level.find(qn("w:numFmt")) is not None
        }
        for item in root.iterfind(qn("w:abstractNum"))
    }
    formats: dict[tuple[str, int], str] = {}
    for number in root.iterfind(qn("w:num")):
        link = number.find(qn("w:abstractNumId"))
        if link is not None:
            levels = abstract.get(link.get(_VAL), {})
            formats.update({(number.get(qn("w:numId")), depth): kind for depth, kind in levels.items()})
    return formats
