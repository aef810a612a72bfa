"""XLSX: FAQ pairs or readable rows of every visible sheet, under the sheet's name."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any

import openpyxl
from openpyxl.utils.cell import range_boundaries

from knowledge.errors import DocumentTooLarge
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.pieces import Heading, ParsedTable, Piece

_SHEET_LEVEL = 2
"""Below 1: the first sheet's name is not the title of the document."""
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_STEP = 2**20
_LONGEST_TAG = 256

Merges = dict[tuple[int, int], int]
"""Last row of every cell that is merged downwards, by its row and column (from 1)."""


class XlsxParser(Parser):
    """Reads the values that Excel stored; sheets are streamed, so that memory does not grow with their size."""

    signature = b"PK\x03\x04"

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_archive(source)
        book = openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True, keep_links=False)
        try:
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    sheet.reset_dimensions()  # what the file declares may be wrong or huge
                    rows = _rows(source, sheet, _merges(sheet))
                    if (first := next(rows, None)) is not None:
                        yield Heading(_SHEET_LEVEL, sheet.title)
                        yield ParsedTable(chain([first], rows))
        finally:
            book.close()


def _merges(sheet: Any) -> Merges:
    """openpyxl leaves merged cells out when it streams, so the sheet's XML is scanned for them."""
    found: Merges = {}
    tail = b""
    with sheet._get_source() as stream:
        while step := stream.read(_STEP):
            for reference in _MERGE.findall(tail + step):
                left, top, _, bottom = range_boundaries(reference.decode("ascii"))
                if bottom > top:
                    found[top, left] = bottom
            tail = step[-_LONGEST_TAG:]
    return found


def _rows(source: SourceFile, sheet: Any, merges: Merges) -> Iterator[list[str]]:
    """Rows with something in them; a cell that is merged downwards is repeated in each row."""
    cells = 0
    covering: dict[int, tuple[int, str]] = {}
    for number, row in enumerate(sheet.iter_rows(), start=1):
        cells += len(row) + 1
        if cells > source.limits.max_cells:
            raise DocumentTooLarge(source.name, "的单元格过多，请删去多余的行列或拆分后再上传")
        texts = [shown(cell) for cell in row]
        if not any(texts):
            continue
        for column, (last, text) in covering.items():
            if number <= last:
                texts.extend([""] * (column - len(texts)))
                texts[column - 1] = texts[column - 1] or text
        yield texts
        covering = {column: cover for column, cover in covering.items() if number < cover[0]}
        for column, text in enumerate(texts, start=1):
            if bottom := merges.get((number, column)):
                covering[column] = (bottom, text)


def shown(cell: Any) -> str:
    """A cell as it is usually shown: percentages and dates formatted, whole numbers without a decimal point."""
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float() if "%" in (cell.number_format or ""):
            return f"{value * 100:.10g}%"
        case float():
            return f"{value:.15g}"
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime():
            return value.isoformat(" ", "minutes")
        case _:
            return str(value).strip()
