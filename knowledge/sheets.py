"""Rows of CSV and XLSX files, for what people keep in a spreadsheet: one place for limits.

A file is read by the names of its first row; which row of the spreadsheet a value stands in is kept, to name what is
wrong. The apostrophe before a cell that a spreadsheet would run as a formula is taken off.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from knowledge.errors import BrokenDocument, DocumentTooLarge, EmptyDocument, KnowledgeError
from knowledge.parsing.base import SourceFile
from knowledge.parsing.csv import DELIMITERS, find_delimiter
from knowledge.parsing.decoding import decode
from knowledge.parsing.faq_columns import find_by_name
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.office_kinds import describe_other_kind
from knowledge.parsing.overlong_rows import count_excess
from knowledge.text import clean

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
QUOTE = "'"
_ARCHIVE = b"PK\x03\x04"
_UNPACKED_BYTES = 20 * 2**20
_ENTRIES = 1000
# Rows with a title and explanations at most, before the one that names the columns.
_ABOVE_HEADER = 20
# Times as many rows as are taken may be there with the blank ones.
_BLANK = 2

# Their numbers, and the cells as they were given.
Rows = Iterator[tuple[int, Sequence[str]]]
# Those with something in them: their numbers, the cells as they are read, and as they were given.
Filled = Iterator[tuple[int, Sequence[str], Sequence[str]]]


@dataclass(frozen=True, slots=True)
class SheetOptions:
    """Limits on a table; a file that exceeds one is refused as a whole.

    rows: below the header; characters: of one cell; total: of all cells, since the cells of a small workbook may all
    show the same long text. faq_header: the table is the first one, on any sheet, that names questions and answers in
    one of its first rows. Without it, or without such a row, the first row of the first sheet names the columns.
    """

    bytes: int = 5 * 2**20
    rows: int = 10_000
    columns: int = 100
    characters: int = 20_000
    total: int = 10_000_000
    faq_header: bool = False


@dataclass(frozen=True, slots=True)
class SheetRow:
    """number: as the spreadsheet shows it; cells: by the name of their column, without surrounding blanks; beyond:
    the cells behind the last column as they were given, empty if they have no text.
    """

    number: int
    cells: Mapping[str, str]
    beyond: tuple[str, ...] = ()

    def get_first(self, *names: str) -> str:
        """Returns the first non-empty value of these columns; empty if there is none."""
        return next((self.cells[name] for name in names if self.cells.get(name)), "")


@dataclass(frozen=True, slots=True)
class Spreadsheet:
    """A table: the names of its columns in lower case, and its non-empty rows.

    delimiter: divides the cells of the file, empty if it has none; header: number of the row with the names.
    """

    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    delimiter: str = ""
    header: int = 1


def read_sheet(
    name: str,
    content: bytes,
    options: SheetOptions = SheetOptions(),
) -> Spreadsheet:
    """Reads the table of a CSV or TSV file, or of the first sheet of an XLSX workbook. Blocking.

    Its bytes decide what the file is, not its name. The cost of a hostile file is limited by `knowledge.sandbox` alone.

    Raises:
        EmptyDocument, DocumentTooLarge, WrongEncoding: If it cannot be read as a table within the limits.
        HostileDocument, BrokenDocument, EncryptedDocument: If the file itself is at fault.
    """
    if len(content) > options.bytes:
        raise DocumentTooLarge(name, f"超过 {options.bytes / 2**20:.3g} MB 的大小上限")
    if not content.strip():
        raise EmptyDocument(name, "是空文件")
    if reason := describe_other_kind(content):
        raise BrokenDocument(name, reason)
    try:
        width = options.columns + 1
        if content.startswith(_ARCHIVE):
            return _read_first_with_header(name, _read_xlsx(name, content, width), options)
        text = decode(name, content)
        delimiter = _find_delimiter(text)
        sheet = _read_first_with_header(
            name, [enumerate(csv.reader(io.StringIO(text), delimiter=delimiter), 1)], options
        )
        return replace(sheet, delimiter=delimiter)
    except (KnowledgeError, MemoryError):
        raise
    except Exception as error:  # a library may raise anything on a broken file; the caller knows one reaction
        raise BrokenDocument(name, "无法解析，文件可能已损坏，或不是 CSV、XLSX") from error


def _read_first_with_header(name: str, sheets: Iterable[Rows], options: SheetOptions) -> Spreadsheet:
    """Reads the first sheet that has a header, else the first sheet."""
    first: Filled | None = None
    for rows in sheets:
        filled = _list_filled_rows(name, rows, options)
        if not options.faq_header:
            return _build_sheet(name, filled, options)
        head = list(islice(filled, _ABOVE_HEADER + 1))
        for index, (_, cells, _) in enumerate(head):
            if find_by_name(cells) is not None:
                return _build_sheet(name, chain(head[index:], filled), options)
        first = first or chain(head, filled)
    return _build_sheet(name, first or iter(()), options)


def _build_sheet(name: str, filled: Filled, options: SheetOptions) -> Spreadsheet:
    header, head, _ = next(filled, (0, (), ()))
    if not head:
        raise EmptyDocument(name, "里没有内容")
    columns = tuple(cell.lower() for cell in head)
    while not columns[-1]:
        columns = columns[:-1]
    if len(columns) > options.columns:
        raise DocumentTooLarge(name, f"超过 {options.columns} 列的上限")
    found: list[SheetRow] = []
    total = 0
    for number, cells, raw in filled:
        total += sum(map(len, cells))
        if total > options.total:
            raise DocumentTooLarge(name, f"超过 {options.total} 个字的上限，请拆分后再上传")
        if len(found) >= options.rows:
            raise DocumentTooLarge(name, f"超过 {options.rows} 行的上限，请拆分后再上传")
        beyond = tuple(map(clean, raw[len(columns) : len(columns) + count_excess(raw, len(columns))]))
        found.append(SheetRow(number, _name_cells(columns, cells), beyond))
    return Spreadsheet(columns, tuple(found), header=header)


def _list_filled_rows(name: str, rows: Rows, options: SheetOptions) -> Filled:
    """Yields the rows that contain something; blank ones are counted too, since a file may claim any number of them."""
    for number, raw in rows:
        if number > _BLANK * options.rows:
            raise DocumentTooLarge(name, "的空行过多，请删去后再上传")
        cells = [_clean_cell(cell) for cell in raw]
        if any(len(cell) > options.characters for cell in cells):
            raise DocumentTooLarge(name, f"第 {number} 行有超过 {options.characters} 个字的单元格")
        if any(cells):
            yield number, cells, raw


def _name_cells(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    """Maps the cells of a row to the names of their columns; of equal names the first non-empty cell counts."""
    named: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=False):
        if column and not named.get(column):
            named[column] = cell
    return named


def _find_delimiter(text: str) -> str:
    """Returns the delimiter of the first line that has one: a title line has none, and cells may hold the others."""
    lines = (line for line in io.StringIO(text) if line.strip(",;|\t\r\n "))
    first = next(lines, "")
    return find_delimiter(
        next((line for line in chain([first], lines) if any(sign in line for sign in DELIMITERS)), first)
    )


def _read_xlsx(name: str, content: bytes, width: int) -> Iterator[Rows]:
    """Yields the rows of each visible sheet."""
    from knowledge.parsing.xlsx import format_cell, open_sheets

    limits = ParsingLimits(max_unpacked_bytes=_UNPACKED_BYTES, max_archive_entries=_ENTRIES)
    for sheet in open_sheets(SourceFile(name, content, limits)):
        yield (
            (number, [format_cell(cell) for cell in row])
            for number, row in enumerate(sheet.iter_rows(max_col=width), 1)
        )


def _clean_cell(cell: str) -> str:
    cell = clean(cell).strip()
    return cell[1:] if cell[:1] == QUOTE and is_formula(cell) else cell


def is_formula(cell: str) -> bool:
    """Returns whether a spreadsheet would run the cell as a formula, leading apostrophes aside."""
    return cell.lstrip(QUOTE).startswith(_FORMULA)
