"""Reads CSV and TSV as FAQ pairs or readable rows, including files that Excel saved in GB18030."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice

from knowledge.errors import DocumentTooLarge
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.pieces import ParsedTable, Piece

DELIMITERS = (",", "\t", ";", "|")
_SAMPLE = 20


class CsvParser(Parser):
    """The delimiter is the one with which most rows of the sample have the same number of columns."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        text = decode(source.name, source.content)
        delimiter = find_delimiter(text)
        rows = csv.reader(io.StringIO(text), delimiter=delimiter)
        yield ParsedTable(_limit_rows(source, rows), delimiter=delimiter)


def _limit_rows(source: SourceFile, rows: Iterator[list[str]]) -> Iterator[list[str]]:
    for number, row in enumerate(rows):
        if number > source.limits.max_rows:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_rows} 行的上限，请拆分后再上传")
        yield row


def find_delimiter(text: str) -> str:
    """Returns the delimiter of a table: the one with which most of its first rows have the same number of cells."""

    def count_agreement(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in islice(csv.reader(io.StringIO(text), delimiter=delimiter), _SAMPLE) if row]
        common = max(set(widths), key=lambda width: (widths.count(width), width), default=1)
        return (widths.count(common), common) if common > 1 else (0, 0)

    return max(DELIMITERS, key=count_agreement)
