"""Tables written as CSV and XLSX files, safe to open: a cell that a spreadsheet would run as a formula gets an
apostrophe before it, which `knowledge.sheets` takes off again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import PurePath

from knowledge.errors import UnsupportedType
from knowledge.sheets import QUOTE, is_formula
from knowledge.text import clean

CSV = "text/csv"
# Media types of the two.
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_NOT_IN_TITLES = re.compile(r"[\[\]:*?/\\]")
# XML, and so a workbook, holds neither.
_NO_CHARACTER = re.compile("[\ufffe\uffff]")

Cell = str | int | float | None


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """UTF-8 with a BOM, so that spreadsheets read it right."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(map(_write_row, rows))
    return out.getvalue().encode("utf-8-sig")


async def stream_csv(columns: Sequence[str], batches: AsyncIterator[Iterable[Sequence[Cell]]]) -> AsyncIterator[bytes]:
    """The same as `write_csv`, of rows that are not all in memory."""
    yield write_csv(columns, ())
    async for rows in batches:
        out = io.StringIO()
        csv.writer(out).writerows(map(_write_row, rows))
        yield out.getvalue().encode()


def write_xlsx(title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """A workbook of one sheet. title: its name, as far as a sheet may be called so."""
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    sheet = book.active
    sheet.title, sheet.freeze_panes = _NOT_IN_TITLES.sub("", title)[:31] or "Sheet", "A2"
    sheet.append(list(columns))
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for row in map(_write_row, rows):
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def write_sheet(name: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> tuple[bytes, str]:
    """A file by the ending of its name, .csv or .xlsx, and its media type. Raises UnsupportedType."""
    match PurePath(name).suffix.lower():
        case ".csv":
            return write_csv(columns, rows), CSV
        case ".xlsx":
            return write_xlsx(PurePath(name).stem, columns, rows), XLSX
        case _:
            raise UnsupportedType(name, "不是 CSV 或 XLSX")


def _write_row(row: Sequence[Cell]) -> list[Cell]:
    return [_escape_cell(cell) if isinstance(cell, str) else cell for cell in row]


def _escape_cell(cell: str) -> str:
    cell = _NO_CHARACTER.sub("", clean(cell))
    return f"{QUOTE}{cell}" if is_formula(cell) else cell
