"""Rows with more cells than the header: a cell contains an unquoted comma."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from knowledge.parsing.cells import CellKind, find_usual_kind
from knowledge.parsing.regions import SheetLine
from knowledge.parsing.table_readings import TableReading
from knowledge.types import Notice, NoticeCode

# Rows that a notice names.
_MOST_NUMBERS = 20


def count_excess(cells: Sequence[str], width: int) -> int:
    """Counts the cells behind the last one of the header, without empty ones at the end."""
    there = max((column + 1 for column, cell in enumerate(cells) if cell.strip()), default=0)
    return max(0, there - width)


def is_last_open(reading: TableReading) -> bool:
    """Returns whether surplus cells belong to the last column: an answer, or the column of the longest texts.

    If most rows have too many cells, the header has too few.
    """
    last = len(reading.names) - 1
    if reading.places is not None:
        return reading.places.answer == last
    rows = reading.sample
    if len(rows) > 1 and sum(not count_excess(row, last + 1) for row in rows) * 2 < len(rows):
        return False
    columns = [[row[column] for row in rows if column < len(row) and row[column]] for column in range(last + 1)]
    usual = find_usual_kind(columns[last])
    if usual is None or usual[0] is CellKind.NUMBER:
        return False
    return len(rows) < 2 or max(columns, key=_measure_length) is columns[last]


def _measure_length(cells: Sequence[str]) -> float:
    return median(map(len, cells)) if cells else 0.0


@dataclass(slots=True)
class OverlongRows:
    """The overlong rows of one table, whose cells are divided by `delimiter`.

    joined_rows: rows that were joined again; kept: rows whose cells were all kept, since nobody knows where they
    belong.
    """

    delimiter: str
    reading: TableReading
    joined_rows: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)

    def join_cells(self, line: SheetLine) -> SheetLine:
        """Returns the line, with surplus cells joined if possible."""
        width = len(self.reading.names)
        if not self.delimiter or not width or self.reading.of_fields or not count_excess(line.cells, width):
            return line
        if not is_last_open(self.reading):
            self.kept.append(line.number)
            return line
        self.joined_rows.append(line.number)
        raw = list(line.raw[: width + count_excess(line.cells, width)])
        last = self.delimiter.join(raw[width - 1 :]).strip()
        return SheetLine(line.number, [*line.cells[: width - 1], last], raw)

    def build_notices(self) -> Iterator[Notice]:
        """Yields notices about the rows that had too many cells."""
        if self.joined_rows:
            yield Notice(
                NoticeCode.CELLS_JOINED,
                f"第 {_format_numbers(self.joined_rows)} 行的格数比表头多，多出的部分已拼回最后一列；"
                "内容里有分隔符时，请给整格加上双引号",
            )
        if self.kept:
            yield Notice(
                NoticeCode.TABLE_UNCERTAIN,
                f"第 {_format_numbers(self.kept)} 行的格数比表头多，分不清多出的内容属于哪一列，已全部保留；"
                "请检查这些行，内容里有分隔符时，请给整格加上双引号",
            )


def _format_numbers(numbers: Sequence[int]) -> str:
    shown = "、".join(map(str, numbers[:_MOST_NUMBERS]))
    return f"{shown} 等 {len(numbers)} " if len(numbers) > _MOST_NUMBERS else shown
