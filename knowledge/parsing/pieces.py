"""What the parsers hand to the assembly: the document as a flat stream, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from knowledge.types import Notice, ParsedDocument


@dataclass(frozen=True, slots=True)
class Title:
    """The document's own title; wins over the first level-1 heading and over the file name."""

    text: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` >= 1 orders headings among each other, and the first of level 1 titles the document."""

    level: int
    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, a list item with its marker, or a code block, as a reader sees it; `page` counts from 1."""

    text: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """Cells row by row, possibly lazily. `header_rows`: how many the format names, None where the cells decide;
    `certain`: it names them because they are a header, and not because it cannot do without one.
    """

    rows: Iterable[Sequence[str]]
    header_rows: int | None = None
    certain: bool = True
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A document within the document, an attachment for example; its headings stand under `name`, if it has one."""

    name: str
    document: ParsedDocument


Piece = Title | Heading | Paragraph | ParsedTable | Enclosed | Notice
