"""Reads the rows of tables: rows of questions and answers become FAQ pairs, all others blocks of one readable line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice

from knowledge.blocks import Block, BlockKind
from knowledge.parsing import field_tables, headers
from knowledge.parsing.cells import get_cell, list_filled_columns
from knowledge.parsing.overlong_rows import OverlongRows
from knowledge.parsing.pieces import ParsedTable
from knowledge.parsing.regions import Row, SheetLine, cut_columns, read_lines, split_bands, split_columns
from knowledge.parsing.table_readings import TableReading, is_new_table, is_note, read_table
from knowledge.types import FaqColumns, FaqPair, Notice, NoticeCode


@dataclass(frozen=True, slots=True)
class FaqColumnsUsed:
    """The columns read as questions and answers, and those that were not read."""

    question: str
    answer: str
    left_out: tuple[str, ...]
    # The upload names them.
    requested: bool


Found = Block | FaqPair | FaqColumnsUsed | Notice


def read_rows(table: ParsedTable, wanted: FaqColumns | None = None) -> Iterator[Found]:
    """Yields FAQ pairs, or rows "列名：值；列名：值", in order; empty cells and rows are left out.

    A sheet may hold several tables, each with its own header or with the names of its fields in the first column. A
    line alone between them is a caption, one below a table a note. Columns of a FAQ table beyond question, answer,
    variants and category are not read; which ones were read is reported first. What can be read in two ways is there
    twice, with a notice, and so are rows that have more cells than the header.

    Args:
        table: The table.
        wanted: The columns to read; None to detect them.
    """
    for found in _SheetReader(table, wanted).read():
        yield replace(found, page=table.page) if isinstance(found, Block) else found


@dataclass(slots=True)
class _SheetReader:
    """Reads the tables of one sheet."""

    table: ParsedTable
    wanted: FaqColumns | None
    # The tables that were read, the last one at the end.
    above: list[TableReading] = field(default_factory=list)
    # What stands alone, or blank, since the last row.
    between: list[SheetLine] = field(default_factory=list)
    # Rows of the header that the format names and that hold anything.
    declared: int | None = None

    def read(self) -> Iterator[Found]:
        if self.table.caption:
            yield _build_caption(self.table.caption)
        lines = read_lines(self.table.rows)
        if self.table.header_rows is None:
            yield from self._read_bands(lines)
        else:  # a table in the narrow sense: its blank rows separate nothing
            named = [line for line in islice(lines, self.table.header_rows) if not line.blank]
            self.declared = len(named)
            yield from self._read_part(chain(named, (line for line in lines if not line.blank)))
        yield from self._read_end()

    def _read_bands(self, lines: Iterator[SheetLine]) -> Iterator[Found]:
        blank = SheetLine(0, [], [])
        for band in split_bands(lines):
            head = list(islice(band, headers.SAMPLE))
            parts, certain = split_columns([line.cells for line in head])
            if len(parts) == 1:
                yield from self._read_part(chain(head, band))
            else:
                whole = [*head, *band]
                yield from self._read_between(None)
                for columns in parts:
                    yield from self._read_part(cut_columns(whole, columns, first=columns is parts[0]))
                    yield from self._read_end()
                if not certain:
                    yield from _read_together(self.table, whole)
                    yield _report_doubt(whole[0].number, "中间隔着空列的内容，按并排的几张表读取，也按一张表收录")
            self.between.append(blank)

    def _read_part(self, lines: Iterable[SheetLine]) -> Iterator[Found]:
        named = (self.table.header_rows or 0) if self.declared else 0
        narrow = False

        def is_table_line(line: SheetLine) -> bool:
            nonlocal narrow
            cells = len(list_filled_columns(line.cells))
            narrow = narrow or (line.number <= named and cells == 1)
            return line.number <= named or cells > 1 or (narrow and cells == 1)

        for full, group in groupby(lines, key=is_table_line):
            if full:
                yield from self._read_rows(group)
            else:
                self.between.extend(group)

    def _read_rows(self, lines: Iterator[SheetLine]) -> Iterator[Found]:
        """Reads consecutive rows of several cells: a new table, or more of the one above."""
        head = list(islice(lines, headers.SAMPLE))
        rows = [line.cells for line in head]
        above = self._find_above(rows[0])
        titled = [line for line in self.between if not line.blank and not (above and above.has_record(line.cells))]
        apart = bool(titled) or any(line.blank for line in self.between)
        if above is not None and not (self.between and is_new_table(above, rows, apart=apart)):
            yield from self._read_between(above)
            yield from self._read_body(above, chain(head, lines))
            return
        if self.between and _is_group_name(self.between[-1].cells, rows[0]):
            head.insert(0, self.between.pop())
            rows.insert(0, head[0].cells)
        yield from self._read_names()
        yield from self._read_between(above, titled=True)
        declared = None if self.above else self.declared
        reading = read_table(rows, declared, self.table.certain, self.wanted, above)
        self.above.append(reading)
        if reading.places and len(rows) > len(reading.header):
            yield _report_used_columns(reading)
        yield from self._read_body(reading, chain(head[len(reading.header) :], lines), head[0].number)

    def _find_above(self, row: Row) -> TableReading | None:
        columns = set(list_filled_columns(row))
        return next((one for one in reversed(self.above) if columns & one.columns), None)

    def _read_body(self, reading: TableReading, lines: Iterator[SheetLine], begins: int = 0) -> Iterator[Found]:
        overlong = OverlongRows(self.table.delimiter, reading)
        lines = (overlong.join_cells(line) for line in lines if line.cells not in reading.header)
        if begins and reading.doubt:
            kept = list(lines)
            lines = iter(kept)
        yield from self._read_lines(reading, lines, overlong, more=not begins)
        if begins and reading.doubt:
            yield from reading.build_other_reading([line.cells for line in kept])
            yield _report_doubt(begins, reading.doubt)
        yield from overlong.build_notices()

    def _read_lines(
        self, reading: TableReading, lines: Iterator[SheetLine], overlong: OverlongRows, *, more: bool
    ) -> Iterator[Found]:
        """Yields the rows below a header. more: they follow a blank row and are not in the table's sample yet."""
        if reading.of_fields:
            reading.reported = True
            yield from field_tables.build_blocks(line.cells[reading.start :] for line in lines)
            return
        for line in lines:
            reading.reported = True
            if len(reading.sample) < headers.SAMPLE and more:
                reading.sample.append(line.cells)
            pair = reading.places and line.number not in overlong.kept and reading.places.read_pair(line.cells)
            yield pair or reading.build_row(line.cells)

    def _read_names(self) -> Iterator[Found]:
        """Yields the header of a table that has nothing else."""
        for reading in self.above:
            if not reading.reported:
                reading.reported = True
                yield field_tables.build_row(("", name) for name in reading.names if name)

    def _read_between(self, above: TableReading | None, *, titled: bool = False, last: bool = False) -> Iterator[Found]:
        """Yields the lines that stand alone: a row of the table above, a note or a caption.

        Args:
            above: The table above, if any.
            titled: Whether the last line belongs to what follows.
            last: Whether no table follows, so that nothing is a caption.
        """
        lines, self.between = self.between, []
        apart = above is None
        for line in lines:
            apart = apart or line.blank or (titled and line is lines[-1])
            if line.blank:
                continue
            text = _get_only_cell(line)
            if not apart and above is not None and above.has_record(line.cells):
                yield above.build_row(line.cells)
            elif last or is_note(text):
                yield Block(text, kind=BlockKind.NOTE)
            else:
                yield _build_caption(text)

    def _read_end(self) -> Iterator[Found]:
        """Yields the lines behind the last table as notes; without any table, a column or lines of text."""
        yield from self._read_names()
        lines = [line for line in self.between if not line.blank]
        if self.above:
            yield from self._read_between(self._find_above(lines[0].cells) if lines else None, last=True)
        elif lines:
            yield from _read_column([_get_only_cell(line) for line in lines])
        self.between = []


def _read_together(table: ParsedTable, lines: Sequence[SheetLine]) -> Iterator[Found]:
    """Reads rows across tables side by side as rows of one table."""
    sheet = _SheetReader(table, None)
    for found in (*sheet._read_part(lines), *sheet._read_end()):
        if isinstance(found, Block) and found.kind is BlockKind.ROW:
            yield found


def _read_column(texts: Sequence[str]) -> Iterator[Block]:
    """Reads a sheet of one column: values under a name if the first cell differs from them, else lines of text."""
    if len(texts) > 2 and headers.measure_likelihood([texts[0]], [[text] for text in texts[1 : headers.SAMPLE]]) > 1:
        yield from (field_tables.build_row([(texts[0], text)]) for text in texts[1:])
    elif len(texts) == 1:
        yield _build_caption(texts[0])
    else:
        yield from map(Block, texts)


def _is_group_name(lone: Row, row: Row) -> bool:
    """Returns whether a cell stands over several columns of the row below, not at its beginning: it names them."""
    columns = list_filled_columns(lone)
    return bool(columns) and columns[0] > list_filled_columns(row)[0] and headers.is_group_header(lone, row)


def _get_only_cell(line: SheetLine) -> str:
    return next(cell for cell in line.cells if cell)


def _build_caption(text: str) -> Block:
    return Block(text, kind=BlockKind.CAPTION)


def _report_doubt(number: int, what: str) -> Notice:
    return Notice(NoticeCode.TABLE_UNCERTAIN, f"第 {number} 行起的表格{what}，两种读法都能搜到")


def _report_used_columns(reading: TableReading) -> FaqColumnsUsed:
    places = reading.places
    assert places is not None

    def get_name(column: int) -> str:
        return get_cell(reading.names, column) or f"第 {column + 1} 列"

    read = {places.question, places.answer, places.variants, places.category}
    left_out = tuple(cell for column, cell in enumerate(reading.names) if cell and column not in read)
    return FaqColumnsUsed(get_name(places.question), get_name(places.answer), left_out, reading.requested)
