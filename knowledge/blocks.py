"""The structure of a document: typed blocks, and the spans that they cover in the text of a chunk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from enum import StrEnum
from typing import Any

# Before each line of a block, for each level of the list in which it stands.
INDENT = "  "


class BlockKind(StrEnum):
    """The role of a block for a reader. Parsers decide it; later steps never guess it from the text."""

    PARAGRAPH = "paragraph"
    # A heading with nothing under it, or one that became a line of a chunk.
    HEADING = "heading"
    # Of a list; a numbered one has digits or letters in its `marker`.
    ITEM = "item"
    # The title of a table.
    CAPTION = "caption"
    # Of a table: `cells`.
    ROW = "row"
    # `label`: the language.
    CODE = "code"
    # A box beside the text; `label`: tip, warning …
    NOTE = "note"
    QUOTE = "quote"
    # The text that stands for a picture: it is found, and never quoted.
    IMAGE = "image"
    FORMULA = "formula"
    FOOTNOTE = "footnote"
    # Of a form: its label and what was filled in.
    FIELD = "field"


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest part of a document that is of one kind. `text`: verbatim, as a reader sees it, marker included.

    level: how deep a list item is nested, from 0. marker: what a reader sees before the text: "3.", "第四条", "-"; at
    the beginning of `text`, behind its indent. label: see the kinds. cells: of a row, the name of the column ("" where
    it has none) and the value. group: the same number for blocks of one list, table or box; 0 alone. lead: the sentence
    before a group that announces it. markdown: how to show it, where the text alone does not tell.
    """

    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    marker: str = ""
    label: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    group: int = 0
    lead: str = ""
    markdown: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A block, or the part of one, at `start:end` of a chunk's text; the other fields as in `Block`."""

    start: int
    end: int
    kind: BlockKind
    level: int = 0
    marker: str = ""
    label: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    group: int = 0
    lead: str = ""
    markdown: str = ""

    @classmethod
    def from_block(cls, block: Block, start: int, end: int, *, whole: bool) -> Span:
        """Creates the span that a block covers in a text.

        Args:
            block: The block, or the block of which the span holds a part.
            start: Where the span begins in the text.
            end: Where the span ends in the text.
            whole: Whether the span holds the whole block. A part gets neither cells nor Markdown, which describe all of
                it.
        """
        span = cls(start, end, block.kind, block.level, block.marker, block.label, group=block.group, lead=block.lead)
        return replace(span, cells=block.cells, markdown=block.markdown) if whole else span

    def strip_indent(self, text: str) -> str:
        """Removes from a text of this block the leading blanks that show how deep its list is nested."""
        indent = INDENT * self.level
        return text.removeprefix(indent).replace(f"\n{indent}", "\n")


# Spans as they are kept and sent: the fields of each in order, without those at its end that say nothing.
Layout = tuple[tuple[Any, ...], ...]


def build_layout(spans: Iterable[Span]) -> Layout:
    """Converts spans into the compact form in which chunks are stored; `read_layout` reverses it."""
    rows = []
    for span in spans:
        fields = [getattr(span, field.name) for field in _FIELDS]
        fields[2] = span.kind.value
        while not fields[-1]:
            fields.pop()
        rows.append(tuple(fields))
    return tuple(rows)


def read_layout(layout: Layout) -> tuple[Span, ...]:
    """Converts a stored layout back into spans."""
    return tuple(Span(start, end, BlockKind(kind), *rest) for start, end, kind, *rest in layout)


def validate_layout(rows: object, length: int) -> Layout:
    """Checks a layout that came as JSON.

    Args:
        rows: The decoded JSON.
        length: Length of the text that the layout describes, in characters.

    Raises:
        TypeError, ValueError: If it is not a layout of such a text.
    """
    layout = []
    for row in _require_list(rows):
        fields = _require_list(row)
        if not _LEAST <= len(fields) <= len(_FIELDS):
            raise ValueError("fields of a span")
        if len(fields) > _CELLS:
            fields[_CELLS] = tuple(
                (_require_text(name), _require_text(value)) for name, value in _require_list(fields[_CELLS])
            )
        for field, value in zip(_FIELDS, fields, strict=False):
            if field.type == "int" and not (type(value) is int and value >= 0):
                raise TypeError(f"{field.name} of a span")
            if field.type == "str":
                _require_text(value)
        start, end, kind = fields[:_LEAST]
        if kind not in _KINDS or not start <= end <= length:
            raise ValueError("a span of no kind, or beyond its text")
        layout.append(tuple(fields))
    return tuple(layout)


def _require_list(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise TypeError(f"{type(value).__name__} where a list belongs")
    return list(value)


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a text belongs")
    return value


_FIELDS = fields_of(Span)
_LEAST = 3
_KINDS = frozenset(BlockKind)
_CELLS = next(number for number, field in enumerate(_FIELDS) if field.name == "cells")
