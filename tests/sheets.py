"""Spreadsheets made for tests, and tables read in this process, for tests of what is made of them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import openpyxl

from knowledge.ingest import TrustingReader
from knowledge.sheets import SheetOptions, Spreadsheet


async def read_here(name: str, content: bytes, options: SheetOptions) -> Spreadsheet:
    """As `app.http.sheets` reads them."""
    return await TrustingReader().read_sheet("t", name, content, options)


def build_workbook(sheets: dict[str, Sequence[Sequence[object]]], merged: Sequence[str] = ()) -> bytes:
    """An XLSX; ranges of `merged` are one cell each, in every sheet."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
        for reference in merged:
            sheet.merge_cells(reference)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
