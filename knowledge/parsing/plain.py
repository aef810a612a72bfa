"""Reads plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.decoding import decode
from knowledge.parsing.lines import FULL, TextLine, find_heading_level, join_wrapped_lines
from knowledge.parsing.messages import read_messages
from knowledge.parsing.pieces import Piece, Title

_TITLE = re.compile(r"[^。！？；，：…!?;:]{2,40}")
# Columns (a CJK character is two) of hard-wrapped text: narrower is a list, wider has a paragraph on each line.
_WRAP_WIDTHS = range(40, 241)


class PlainParser(Parser):
    """A line is a paragraph, unless the file is wrapped at a fixed width or is an exported conversation."""

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        lines = decode(source.name, source.content).split("\n")
        if (conversation := read_messages(lines)) is not None:
            yield from conversation
            return
        widths = [_measure_width(line.strip()) for line in lines]
        column = max(widths)
        wraps = column in _WRAP_WIDTHS
        if title := _find_title(lines):
            yield Title(title)
        yield from join_wrapped_lines(
            TextLine("" if line.strip() == title else line, wraps and width >= FULL * column)
            for line, width in zip(lines, widths, strict=True)
        )


def _find_title(lines: list[str]) -> str:
    """Returns a short first line that stands apart, before a blank line or a heading; else empty."""
    first = next(index for index, line in enumerate(lines) if line.strip())
    title = lines[first].strip()
    following = lines[first + 1].strip() if first + 1 < len(lines) else None
    if not any(line.strip() for line in lines[first + 1 :]):
        return ""
    apart = following == "" or (following and find_heading_level(following) is not None)
    return title if apart and find_heading_level(title) is None and _TITLE.fullmatch(title) else ""


def _measure_width(text: str) -> int:
    return sum(2 if ord(character) >= 0x2E80 else 1 for character in text)
