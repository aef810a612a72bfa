"""Rows of tables: question/answer rows become FAQ pairs, all others blocks of one readable line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from knowledge.blocks import Block, BlockKind
from knowledge.parsing import faq_columns, headers
from knowledge.parsing.characters import shown
from knowledge.parsing.faq_columns import Places
from knowledge.parsing.pieces import ParsedTable
from knowledge.types import FaqColumns, FaqPair

Row = list[str]


@dataclass(frozen=True, slots=True)
class Taken:
    """Columns that were taken for questions and answers, and those that were not read. `asked`: as asked for."""

    question: str
    answer: str
    left_out: tuple[str, ...]
    asked: bool


def read_rows(table: ParsedTable, wanted: FaqColumns | None = None) -> Iterator[Block | FaqPair | Taken]:
    """FAQ pairs, or rows "列名：值；列名：值", in order; empty cells and rows are left out.

    Captions before the header are lines of their own. Columns of a FAQ table beyond question, answer, variants and
    category are not taken over; what was is told first. `wanted`: the columns to take.
    """
    rows, declared = _rows(table)
    if table.caption:
        yield _caption_of(table.caption, table)
    first, held = next(rows, None), []
    while first is not None and declared is None and _caption(first):
        following = next(rows, None)
        if following is not None and not first[0] and headers.groups(first, following):
            held = [following]
            break
        yield _caption_of(next(filter(None, first)), table)
        first = following
    if first is None:
        return
    sample = [first, *held, *islice(rows, headers.SAMPLE)]
    count, names = _header(sample, declared, table.certain, wanted)
    for row in _body(sample[:count], names, sample[count:], rows, wanted):
        yield replace(row, page=table.page) if isinstance(row, Block) else row


def _caption_of(text: str, table: ParsedTable) -> Block:
    return Block(text, page=table.page, kind=BlockKind.CAPTION)


def _body(
    header: Sequence[Row], names: Row, sample: Sequence[Row], rest: Iterator[Row], wanted: FaqColumns | None
) -> Iterator[Block | FaqPair | Taken]:
    places, asked = _places(names, sample, wanted)
    if places and sample:
        yield _taken(places, names, asked)
    empty = True
    for cells in chain(sample, rest):
        if cells not in header:  # else it is printed again
            empty = False
            yield (places and places.pair(cells)) or _line(names, cells)
    if empty and names:
        yield Block(
            "；".join(filter(None, names)), kind=BlockKind.ROW, cells=tuple(("", name) for name in names if name)
        )


def _rows(table: ParsedTable) -> tuple[Iterator[Row], int | None]:
    """Rows that are not empty, and how many of them the format calls a header."""
    rows = iter([shown(cell).strip() for cell in row] for row in table.rows)
    if not table.header_rows:
        return filter(any, rows), table.header_rows
    header = [cells for cells in islice(rows, table.header_rows) if any(cells)]
    return filter(any, chain(header, rows)), len(header)


def _caption(cells: Row) -> bool:
    return sum(map(bool, cells)) == 1


def _header(
    rows: Sequence[Row], declared: int | None, certain: bool, wanted: FaqColumns | None
) -> tuple[int, list[str]]:
    """How many rows are the header, and the names in it."""
    if declared is None:
        first = headers.names(rows[:1])
        if faq_columns.by_name(first) or (wanted and faq_columns.asked_for(wanted, first, 0)):
            return 1, first
    count = headers.depth(rows, declared, certain or declared == 0)
    return count, headers.names(rows[:count])


def _places(names: Row, body: Sequence[Row], wanted: FaqColumns | None) -> tuple[Places | None, bool]:
    width = max([len(names), *map(len, body)])
    if wanted and (places := faq_columns.asked_for(wanted, names, width)):
        return places, True
    return faq_columns.by_name(names) or faq_columns.by_content(names, body), False


def _taken(places: Places, names: Row, asked: bool) -> Taken:
    def name(column: int) -> str:
        return (names[column] if column < len(names) else "") or f"第 {column + 1} 列"

    read = {places.question, places.answer, places.variants, places.category}
    left_out = tuple(cell for column, cell in enumerate(names) if cell and column not in read)
    return Taken(name(places.question), name(places.answer), left_out, asked)


def _line(names: Row, cells: Row) -> Block:
    values = enumerate(" ".join(cell.split()) for cell in cells)
    fields = tuple((names[index] if index < len(names) else "", value) for index, value in values if value)
    text = "；".join(f"{name}：{value}" if name else value for name, value in fields)
    return Block(text, kind=BlockKind.ROW, cells=fields)
