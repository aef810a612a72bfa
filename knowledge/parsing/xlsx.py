"""XLSX: FAQ pairs or readable rows of every visible sheet, under the sheet's name."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterator
from typing import Any

import openpyxl

from knowledge.errors import DocumentTooLarge
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, Source
from knowledge.parsing.pieces import Heading, Piece, Table


class XlsxParser(Parser):
    """Reads the values that Excel stored; sheets are streamed, so that memory does not grow with their size."""

    signature = b"PK\x03\x04"

    def _pieces(self, source: Source) -> Iterator[Piece]:
        check_archive(source)
        book = openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True, keep_links=False)
        try:
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    sheet.reset_dimensions()  # what the file declares may be wrong or huge
                    rows = _rows(source, sheet)
                    if (first := next(rows, None)) is not None:
                        yield Heading(_SHEET_LEVEL, sheet.title)
                        yield Table(_chain(first, rows))
        finally:
            book.close()


_SHEET_LEVEL = 2
"""Below 1: the first sheet's name is not the title of the document."""


def _chain(first: list[str], rest: Iterator[list[str]]) -> Iterator[list[str]]:
    yield first
    yield from rest


def _rows(source: Source, sheet: Any) -> Iterator[list[str]]:
    """Rows with something in them."""
    cells = 0
    for row in sheet.iter_rows():
        cells += len(row) + 1
        if cells > source.limits.max_cells:
            raise DocumentTooLarge(source.name, "的单元格过多，请删去多余的行列或拆分后再上传")
        texts = [_text(cell) for cell in row]
        if any(texts):
            yield texts


def _text(cell: Any) -> str:
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
