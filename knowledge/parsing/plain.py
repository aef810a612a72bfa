"""Plain text."""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.parsing.base import Parser, Source
from knowledge.parsing.decoding import decode
from knowledge.parsing.lines import FULL, Line, reflow
from knowledge.parsing.pieces import Piece

_WRAP_WIDTHS = range(40, 241)
"""Columns (a CJK character is two) of hard-wrapped text: narrower is a list, wider has a paragraph on each line."""


class PlainParser(Parser):
    """A line is a paragraph, unless the file is hard-wrapped at a fixed width."""

    def _pieces(self, source: Source) -> Iterator[Piece]:
        lines = decode(source.name, source.content).split("\n")
        widths = [_width(line.strip()) for line in lines]
        column = max(widths)
        wraps = column in _WRAP_WIDTHS
        yield from reflow(
            Line(line, wraps and width >= FULL * column) for line, width in zip(lines, widths, strict=True)
        )


def _width(text: str) -> int:
    return sum(2 if ord(character) >= 0x2E80 else 1 for character in text)
