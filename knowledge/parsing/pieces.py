"""What parsers hand to the assembly: the document as a stream of pieces in reading order."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from knowledge.blocks import Block, BlockKind
from knowledge.types import Notice, ParsedDocument

# Marks that leave room behind them: no space follows.
_WIDE = ("、", "．", "）", "】", "：", "。")


@dataclass(frozen=True, slots=True)
class Title:
    """The document's own title; wins over the first level-1 heading and over the file name."""

    text: str


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the document says of itself: the product that it is about, the version of that, and its own day, as
    2026-03-01; empty for nothing.
    """

    product: str
    product_version: str
    dated: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` >= 1 orders headings among each other, and the first of level 1 titles the document."""

    level: int
    text: str
    page: int | None = None


def add_marker(marker: str, text: str) -> str:
    """Puts a marker before a text, with a blank between them unless the marker ends with room itself."""
    return f"{marker}{'' if not marker or marker.endswith(_WIDE) else ' '}{text}"


def build_item(marker: str, text: str, level: int = 0, page: int | None = None) -> Block:
    """Builds a list item; its further lines are indented below its text, not below its marker."""
    begin = add_marker(marker, "")
    hanging = "\n" + " " * (len(begin) + sum(character in _WIDE for character in begin))
    return Block(begin + text.replace("\n", hanging), page=page, kind=BlockKind.ITEM, level=level, marker=marker)


def build_picture(alternative: str, level: int = 0, page: int | None = None) -> Iterator[Block]:
    """Yields the alternative text of a picture; nothing if a program put a file name there."""
    text = alternative.strip()
    if text and not (mimetypes.guess_type(text)[0] or "").startswith("image/"):
        yield Block(text, page=page, kind=BlockKind.IMAGE, level=level)


@dataclass(frozen=True, slots=True)
class Box:
    """What stands apart in a note (kind NOTE; `label`: tip, warning …; `title`: as it is shown) or a quotation."""

    kind: BlockKind
    pieces: Sequence[Block | ParsedTable]
    label: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class AskedEntry:
    """A question that customers ask, with its answer, in the midst of a document."""

    question: str
    answer: Sequence[Block | ParsedTable | Box]


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """Cells row by row, possibly lazily. `header_rows`: how many the format names, None where the cells decide;
    `certain`: it names them because they are a header, and not because it cannot do without one. A row without text is
    a blank line of the sheet. delimiter: of a file in which it may stand in a cell that nobody quoted.
    """

    rows: Iterable[Sequence[str]]
    header_rows: int | None = None
    certain: bool = True
    page: int | None = None
    caption: str = ""
    delimiter: str = ""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A document within the document, an attachment for example; its headings stand under `name`, if it has one."""

    name: str
    document: ParsedDocument


# A block among them is text as a reader sees it, without the indent, headings and group that the assembly adds. Items
# that follow each other are one list; what stands between them at a deeper `level` belongs to them.
Piece = Title | FrontMatter | Heading | Block | Box | AskedEntry | ParsedTable | Enclosed | Notice
