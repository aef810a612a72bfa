"""Reads XLSX: FAQ pairs or readable rows of every visible sheet, under the sheet's name."""

from __future__ import annotations

import datetime
import io
import re
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import openpyxl
from openpyxl.utils.cell import range_boundaries

from knowledge.errors import DocumentTooLarge
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.pieces import Heading, ParsedTable, Piece

# Below 1: the first sheet's name is not the title of the document.
_SHEET_LEVEL = 2
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_STEP = 2**20
_LONGEST_TAG = 256

# Columns that a cell is repeated in: titles are merged across sheets.
_MAX_SPAN = 100

# First and last column of merged cells, from 1, and their last row.
Merge = tuple[int, int, int]
# By their first row.
Merges = dict[int, list[Merge]]


class XlsxParser(Parser):
    """Reads the values that Excel stored; sheets are streamed, so that memory does not grow with their size."""

    signature = b"PK\x03\x04"

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        for sheet in open_sheets(source):
            rows = _read_rows(source, sheet, _read_merges(sheet))
            for blank, first in enumerate(rows):
                if any(first):
                    yield Heading(_SHEET_LEVEL, sheet.title)
                    yield ParsedTable(chain(repeat([], blank), [first], rows))
                    break


def open_sheets(source: SourceFile) -> Iterator[Any]:
    """Yields the visible sheets of a workbook, to be read before the next one; closes it at the end.

    Raises:
        HostileDocument, EncryptedDocument: If the archive is at fault.
        Exception: Whatever openpyxl raises on broken input.
    """
    check_archive(source)
    book = openpyxl.load_workbook(io.BytesIO(source.content), read_only=True, data_only=True, keep_links=False)
    try:
        for sheet in book.worksheets:
            if sheet.sheet_state == "visible":
                sheet.reset_dimensions()  # what the file declares may be wrong or huge
                yield sheet
    finally:
        book.close()


def _read_merges(sheet: Any) -> Merges:
    """Returns the merged cells from the sheet's XML, since openpyxl leaves them out when it streams."""
    found: Merges = {}
    tail = b""
    with sheet._get_source() as stream:
        while step := stream.read(_STEP):
            for reference in set(_MERGE.findall(tail + step)):
                left, top, right, bottom = range_boundaries(reference.decode("ascii"))
                if (merge := (left, right, bottom)) not in found.setdefault(top, []):
                    found[top].append(merge)
            tail = step[-_LONGEST_TAG:]
    return found


def _read_rows(source: SourceFile, sheet: Any, merges: Merges) -> Iterator[list[str]]:
    """Yields all rows, also blank ones; a merged cell is repeated where it covers, unless it is alone in its row."""
    cells = 0
    covering: dict[int, tuple[int, int, str]] = {}
    for number, row in enumerate(sheet.iter_rows(), start=1):
        texts = [format_cell(cell) for cell in row]
        covering = {left: cover for left, cover in covering.items() if number <= cover[1]}
        for left, right, bottom in merges.get(number, ()):
            if left <= len(texts) and texts[left - 1]:
                covering[left] = (min(right, left + _MAX_SPAN), bottom, texts[left - 1])
        cells += len(texts) + len(covering) + 1
        own = {column for column, text in enumerate(texts, start=1) if text} - set(covering)
        for left, (right, _, text) in covering.items():
            width = right if own or len(covering) > 1 else left
            texts.extend([""] * (width - len(texts)))
            texts[left - 1 : width] = [cell or text for cell in texts[left - 1 : width]]
            cells += width - left
        if cells > source.limits.max_cells:
            raise DocumentTooLarge(source.name, "的单元格过多，请删去多余的行列或拆分后再上传")
        yield texts


def format_cell(cell: Any) -> str:
    """Returns a cell as it is usually shown: percentages and dates formatted, whole numbers without a decimal point."""
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
