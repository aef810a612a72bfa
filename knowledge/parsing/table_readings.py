"""Decides how a table is read: which rows name the columns, or whether the first column names fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from knowledge.blocks import Block
from knowledge.parsing import faq_columns, field_tables, headers
from knowledge.parsing.cells import get_cell, is_one_more, list_filled_columns
from knowledge.parsing.faq_columns import ColumnPlaces
from knowledge.types import FaqColumns

Row = list[str]

_SENTENCE_ENDS = ("。", "！", "；", "!", ";")
# Characters.
_LONGEST_TITLE = 40
# For a header behind a blank row or a title: somebody set the rows apart.
_APART = 0.5
# For a row that stands in columns in which the table above has nothing.
_WIDER = 1.0
# For each name that the table above has too.
_NAMED_ALIKE = 2.0
# Two readings as far from each other as this leave no doubt.
_CLEAR = 1.5
# For fields: the format lets the header be empty, and it is.
_NO_HEADER = 4.0
_FIELDS_CLEAR, _FIELDS_NEVER = 1.0, -2.0


class Doubt(StrEnum):
    """Why a table can be read in two ways, in words for people."""

    HEADER = "首行可能是列名，也可能是内容"
    FIELDS = "可能是“字段名、值”，也可能首行是列名"


@dataclass(slots=True)
class TableReading:
    """One table, as it was read.

    header: its rows that name the columns; sample: some of the others; places: the columns of questions and answers;
    requested: the upload names these columns; of_fields: the names are in the first column, which is `start`; doubt:
    why another reading is possible; reported: rows or names of the table were yielded already.
    """

    names: Row
    header: list[Row]
    sample: list[Row]
    places: ColumnPlaces | None = None
    requested: bool = False
    of_fields: bool = False
    start: int = 0
    doubt: Doubt | None = None
    reported: bool = False

    @property
    def columns(self) -> set[int]:
        """The columns that are not empty."""
        return {column for row in (*self.header, *self.sample) for column in list_filled_columns(row)}

    def build_row(self, cells: Row) -> Block:
        """Builds a row "列名：值；列名：值"; a cell merged across columns of the same name stands there once."""
        fields: list[tuple[str, str]] = []
        last: tuple[int, tuple[str, str]] | None = None
        for column, cell in enumerate(cells):
            one = (get_cell(self.names, column), " ".join(cell.split()))
            if one[1] and last != (column - 1, one):
                fields.append(one)
            if one[1]:
                last = column, one
        return field_tables.build_row(fields)

    def has_record(self, cells: Row) -> bool:
        """Returns whether a row with a single cell is a row of this table that has no other values."""
        column = list_filled_columns(cells)[0]
        if self.places is not None:
            return column == self.places.question and not is_note(cells[column])
        body = [row[column] for row in self.sample if column < len(row) and row[column]]
        return not self.of_fields and is_one_more(cells[column], body)

    def build_other_reading(self, rows: Sequence[Row]) -> Iterator[Block]:
        """Yields the other reading of an ambiguous table. rows: those that were read below its header."""
        if self.of_fields:
            other = TableReading(headers.build_column_names(rows[:1]), [], [])
            yield from map(other.build_row, rows[1:])
        elif self.doubt is Doubt.FIELDS:
            yield from field_tables.build_blocks(row[self.start :] for row in (*self.header, *rows))
        else:
            yield from (field_tables.build_row(("", cell) for cell in row if cell) for row in self.header)


def is_note(text: str) -> bool:
    """Returns whether a line that stands alone is a sentence and no title: by its end, a colon, or its length."""
    if text.endswith(("？", "?")):
        return False
    return text.endswith(_SENTENCE_ENDS) or bool({"：", ":"} & set(text[:-1])) or len(text) > _LONGEST_TITLE


def is_new_table(above: TableReading, rows: Sequence[Row], *, apart: bool) -> bool:
    """Returns whether rows behind a line that stands alone are another table, and not more of the one above.

    A header differs from the rows below it and from those above it, as far as these differ from names at all.

    Args:
        above: The table above.
        rows: The rows.
        apart: Whether a blank row or a title separates them, and not only what may be a row of the table.
    """
    first = rows[0]
    if first in above.header:
        return False
    if not apart:
        return _measure_difference(above, rows)[0] >= 2 * _CLEAR
    if faq_columns.find_by_name(headers.build_column_names([first])):
        return True
    if not above.sample and not set(list_filled_columns(first)) - above.columns:
        return _measure_difference(above, rows)[0] >= _CLEAR
    if above.of_fields:
        return len(rows) > 1 or len(list_filled_columns(first)) % 2 == 1
    score, difference = _measure_difference(above, rows)
    if above.places is not None:
        return score >= _CLEAR
    return score > 0 or difference >= _CLEAR


def read_table(
    rows: Sequence[Row], declared: int | None, certain: bool, wanted: FaqColumns | None, above: TableReading | None
) -> TableReading:
    """Decides how the first rows of a table are read.

    Args:
        rows: The first rows.
        declared: How many header rows the format declares; None if it declares nothing.
        certain: Whether these are a header whatever they contain.
        wanted: The columns of questions and answers; None to detect them.
        above: The table above, if any.
    """
    names = headers.build_column_names(rows[:1])
    if declared is None and (
        faq_columns.find_by_name(names) or (wanted and faq_columns.find_requested(wanted, names, 0))
    ):
        count, doubtful = 1, False
    else:
        count = headers.find_header_depth(rows, declared, certain or declared == 0)
        if not count and above is not None and _measure_difference(above, rows)[0] >= _CLEAR:
            count = int(headers.measure_likelihood(rows[0], rows[1:]) >= 0)
        doubtful = declared is None and count == 1 and _is_doubtful(rows, above)
    names, body = headers.build_column_names(rows[:count]), list(rows[count:])
    reading = TableReading(
        names, list(rows[:count]), body, start=min(column for row in rows for column in list_filled_columns(row))
    )
    reading.places, reading.requested = _find_places(names, body, wanted)
    if reading.places or (declared and certain):
        return reading
    _weigh_fields(reading, rows, declared)
    if doubtful and not reading.doubt and not reading.of_fields:
        reading.doubt = Doubt.HEADER
    return reading


def _weigh_fields(reading: TableReading, rows: Sequence[Row], declared: int | None) -> None:
    """Reads the first column as field names if that is likelier than a header or a plain list."""
    fields = field_tables.measure_likelihood([row[reading.start :] for row in rows])
    if fields == field_tables.IMPOSSIBLE:
        return
    if declared == 0:
        fields += _NO_HEADER
    prior = headers.DECLARED if declared else headers.LIKELY
    margin = fields - max(prior + headers.measure_likelihood(rows[0], rows[1:]), headers.LIKELY)
    if _FIELDS_NEVER < margin < _FIELDS_CLEAR:
        reading.doubt = Doubt.FIELDS
    if margin > 0:
        reading.names, reading.header, reading.sample, reading.of_fields = [], [], list(rows), True


def _measure_difference(above: TableReading, rows: Sequence[Row]) -> tuple[float, float]:
    """Measures what speaks for a separate table, and which part of that is how the first row differs from those
    above.
    """
    first = rows[0]
    outside = bool(set(list_filled_columns(first)) - above.columns)
    alike = len({cell for cell in first if cell} & set(above.names))
    difference = headers.measure_likelihood(first, above.sample)
    prior = _APART + _WIDER * outside + _NAMED_ALIKE * alike
    return prior + difference + headers.measure_likelihood(first, rows[1:]), difference


def _is_doubtful(rows: Sequence[Row], above: TableReading | None) -> bool:
    if len(rows) < 2 or rows[0] in rows[1:]:
        return False
    if above is not None:
        return _measure_difference(above, rows)[0] < _CLEAR
    return headers.measure_likelihood(rows[0], rows[1:]) + headers.LIKELY < 1


def _find_places(names: Row, body: Sequence[Row], wanted: FaqColumns | None) -> tuple[ColumnPlaces | None, bool]:
    width = max([len(names), *map(len, body)])
    if wanted and (places := faq_columns.find_requested(wanted, names, width)):
        return places, True
    return faq_columns.find_by_name(names) or faq_columns.find_by_content(names, body), False
