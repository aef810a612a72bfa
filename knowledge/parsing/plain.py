"""Plain text."""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.parsing.base import Parser, Source
from knowledge.parsing.decoding import decode
from knowledge.parsing.lines import Line, reflow, width
from knowledge.parsing.pieces import Piece


class PlainParser(Parser):
    """A line is a paragraph, unless the file is hard-wrapped at a fixed width."""

    def _pieces(self, source: Source) -> Iterator[Piece]:
        lines = decode(source.name, source.content).split("\n")
        column = max(width(line.strip()) for line in lines)
        yield from reflow(Line(line, column) for line in lines)
