"""Rows of CSV and XLSX files, in and out, for what people keep in a spreadsheet: one place for limits and formulas.

A file is read by the names of its first row; which row of the spreadsheet a value stands in is kept, to name what is
wrong. Written files are safe to open: a cell that a spreadsheet would run as a formula gets an apostrophe before it,
which reading takes off again.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from knowledge.errors import BrokenDocument, DocumentTooLarge, EmptyDocument, KnowledgeError, UnsupportedType
from knowledge.parsing.archive import check_archive
from knowledge.parsing.base import SourceFile
from knowledge.parsing.csv import delimiter_of
from knowledge.parsing.decoding import decode
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.office_kinds import not_a_sheet
from knowledge.text import clean

CSV = "text/csv"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
"""Media types of the two."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_QUOTE = "'"
_ARCHIVE = b"PK\x03\x04"
_UNPACKED_BYTES = 20 * 2**20
_ENTRIES = 1000

_NOT_IN_TITLES = re.compile(r"[\[\]:*?/\\]")
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
"""XML, and so a workbook, holds neither."""
_BLANK = 2
"""Times as many rows as are taken may be there with the blank ones."""

Cell = str | int | float | None
Rows = Iterator[tuple[int, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class SheetLimits:
    """A file over any of these is refused as a whole. `rows`: below the first; `characters`: of one cell; `total`: of
    all cells, since the cells of a small workbook may all show the same long text.
    """

    bytes: int = 5 * 2**20
    rows: int = 10_000
    columns: int = 100
    characters: int = 20_000
    total: int = 10_000_000


@dataclass(frozen=True, slots=True)
class SheetRow:
    """`number`: as the spreadsheet shows it; `cells`: by the name of their column, without surrounding blanks."""

    number: int
    cells: Mapping[str, str]

    def first(self, *names: str) -> str:
        """What the first of these columns that has something says; "" for none."""
        return next((self.cells[name] for name in names if self.cells.get(name)), "")


@dataclass(frozen=True, slots=True)
class Spreadsheet:
    """A table: names of its columns in lower case, and the rows in which anything stands."""

    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]


def read_sheet(name: str, content: bytes, limits: SheetLimits | None = None) -> Spreadsheet:
    """The table of a CSV or TSV file, or of the first sheet of an XLSX workbook; what it is its bytes say, not its
    name. Blocking: run it in a thread.

    Raises EmptyDocument, DocumentTooLarge, WrongEncoding, HostileDocument, BrokenDocument, EncryptedDocument.
    """
    limits = limits or SheetLimits()
    if len(content) > limits.bytes:
        raise DocumentTooLarge(name, f"超过 {limits.bytes / 2**20:.3g} MB 的大小上限")
    if not content.strip():
        raise EmptyDocument(name, "是空文件")
    if reason := not_a_sheet(content):
        raise BrokenDocument(name, reason)
    try:
        read = _xlsx if content.startswith(_ARCHIVE) else _csv
        return _sheet(name, read(name, content, limits.columns + 1), limits)
    except (KnowledgeError, MemoryError):
        raise
    except Exception as error:  # a library may raise anything on a broken file; the caller knows one reaction
        raise BrokenDocument(name, "无法解析，文件可能已损坏，或不是 CSV、XLSX") from error


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """UTF-8 with a BOM, so that spreadsheets read it right."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(map(_written, rows))
    return out.getvalue().encode("utf-8-sig")


def write_xlsx(title: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """A workbook of one sheet. title: its name, as far as a sheet may be called so."""
    import openpyxl
    from openpyxl.styles import Font

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title, sheet.freeze_panes = _NOT_IN_TITLES.sub("", title)[:31] or "Sheet", "A2"
    sheet.append(list(columns))
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for row in map(_written, rows):
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


def _sheet(name: str, rows: Rows, limits: SheetLimits) -> Spreadsheet:
    filled = _filled(name, rows, limits)
    _, head = next(filled, (0, ()))
    if not head:
        raise EmptyDocument(name, "里没有内容")
    columns = tuple(cell.lower() for cell in head)
    while not columns[-1]:
        columns = columns[:-1]
    if len(columns) > limits.columns:
        raise DocumentTooLarge(name, f"超过 {limits.columns} 列的上限")
    found: list[SheetRow] = []
    total = 0
    for number, cells in filled:
        total += sum(map(len, cells))
        if total > limits.total:
            raise DocumentTooLarge(name, f"超过 {limits.total} 个字的上限，请拆分后再上传")
        if len(found) >= limits.rows:
            raise DocumentTooLarge(name, f"超过 {limits.rows} 行的上限，请拆分后再上传")
        if any(len(cell) > limits.characters for cell in cells):
            raise DocumentTooLarge(name, f"第 {number} 行有超过 {limits.characters} 个字的单元格")
        found.append(SheetRow(number, _named(columns, cells)))
    return Spreadsheet(columns, tuple(found))


def _filled(name: str, rows: Rows, limits: SheetLimits) -> Rows:
    """Rows with something in them; the blank ones between are counted too, since a file may claim any number."""
    for number, cells in rows:
        if number > _BLANK * limits.rows:
            raise DocumentTooLarge(name, "的空行过多，请删去后再上传")
        if any(cells):
            yield number, cells


def _named(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Of two columns of the same name the first that says something counts."""
    named: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=False):
        if column and not named.get(column):
            named[column] = cell
    return named


def _csv(name: str, content: bytes, width: int) -> Rows:
    text = decode(name, content)
    head = next((line for line in io.StringIO(text) if line.strip(",;|\t\r\n ")), "")  # cells may hold the others
    for number, row in enumerate(csv.reader(io.StringIO(text), delimiter=delimiter_of(head)), 1):
        yield number, [_read(cell) for cell in row[:width]]


def _xlsx(name: str, content: bytes, width: int) -> Rows:
    import openpyxl

    from knowledge.parsing.xlsx import shown

    limits = ParsingLimits(max_unpacked_bytes=_UNPACKED_BYTES, max_archive_entries=_ENTRIES)
    check_archive(SourceFile(name, content, limits))
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
    try:
        sheet = next(one for one in book.worksheets if one.sheet_state == "visible")
        sheet.reset_dimensions()  # what the file declares may be wrong or huge
        for number, row in enumerate(sheet.iter_rows(max_col=width), 1):
            yield number, [_read(shown(cell)) for cell in row]
    finally:
        book.close()


def _read(cell: str) -> str:
    cell = clean(cell).strip()
    return cell[1:] if cell[:1] == _QUOTE and _runs(cell) else cell


def _written(row: Sequence[Cell]) -> list[Cell]:
    return [_safe(cell) if isinstance(cell, str) else cell for cell in row]


def _safe(cell: str) -> str:
    cell = _NO_CHARACTER.sub("", clean(cell))
    return f"{_QUOTE}{cell}" if _runs(cell) else cell


def _runs(cell: str) -> bool:
    """Whether a spreadsheet would run it, but for apostrophes before it."""
    return cell.lstrip(_QUOTE).startswith(_FORMULA)
