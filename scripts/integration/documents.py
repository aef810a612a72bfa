"""PDF and Office files as colleagues send them, made when they are asked for."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
import openpyxl

from scripts.attacks.hostile_files import build_font, build_pdf, build_stream

# x and y in points, and the text.
Place = tuple[float, float, str]

_PICTURE = b"q 500 0 0 700 50 70 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q"


def build_pdf_pages(*pages: Sequence[Place]) -> bytes:
    """A page of texts each; one without texts shows a picture, as a scan does."""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * number) for number in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        *build_font(3),
    ]
    for number, texts in enumerate(pages):
        head = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
        drawn = "\n".join(f"BT /F1 10 Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET" for x, y, text in texts)
        objects += [head % (6 + 2 * number), build_stream(drawn.encode() or _PICTURE)]
    return build_pdf(objects)


def list_places(lines: Sequence[str], x: float = 60) -> list[Place]:
    """Places for lines below each other."""
    return [(x, 780 - 16 * number, line) for number, line in enumerate(lines)]


def build_word(paragraphs: Sequence[str], table: Sequence[Sequence[str]] = ()) -> bytes:
    """A DOCX of paragraphs and one table after them."""
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        grid = document.add_table(len(table), len(table[0]))
        for row, cells in zip(grid.rows, table, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


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
