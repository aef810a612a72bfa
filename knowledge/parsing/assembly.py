"""From the stream of pieces to a ParsedDocument: heading paths, tables as rows, FAQ pairs, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from knowledge.errors import DocumentTooLarge, EmptyDocument
from knowledge.parsing.characters import shown
from knowledge.parsing.limits import Limits
from knowledge.parsing.pieces import Heading, Paragraph, Piece, Table, Title
from knowledge.parsing.rows import read_rows
from knowledge.types import Block, FaqPair, ParsedDocument

_MAX_TITLE = 200
"""Characters; the title is a part of every chunk's indexed text."""
_WIDE = re.compile(r"([^\S\n]{20})[^\S\n]+|(\n\s{18}\n)\s*\n")
"""White space that nobody sees the end of: it is free in a chunk, which it would make as long as the document."""
_MAX_HEADING = 120
"""Characters; what is longer is a paragraph in heading's clothes and would drown the chunk's own text."""


def assemble(name: str, pieces: Iterable[Piece], limits: Limits) -> ParsedDocument:
    """Builds the document. Raises EmptyDocument, DocumentTooLarge."""
    assembly = _Assembly(name, limits)
    for piece in pieces:
        assembly.take(piece)
    return assembly.finish()


class _Assembly:
    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._title = ""
        self._first_h1 = ""
        self._path: list[tuple[int, str]] = []
        self._bare = False
        self._heading_page: int | None = None
        self._blocks: list[Block] = []
        self._faqs: list[FaqPair] = []
        self._characters = 0
        self._rows = 0

    def take(self, piece: Piece) -> None:
        match piece:
            case Title(text):
                self._title = self._title or _one_line(text)[:_MAX_TITLE]
            case Heading(level, text, page):
                self._heading(level, _one_line(text), page)
            case Paragraph(text, page):
                self._add(text, page)
            case Table(rows, headed, page):
                for row in read_rows(rows, headed):
                    self._row(row, page)

    def finish(self) -> ParsedDocument:
        self._close_bare(0)
        if not self._blocks and not self._faqs:
            raise EmptyDocument(self._name, "里没有可读的文字")
        title = self._title or self._first_h1 or PurePath(self._name).stem
        return ParsedDocument(title=title, blocks=tuple(self._blocks), faqs=tuple(self._faqs))

    def _heading(self, level: int, text: str, page: int | None) -> None:
        if not text:
            return
        if len(text) > _MAX_HEADING:
            self._add(text, page)
            return
        self._close_bare(level)
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))
        self._count(text)
        self._bare = True
        self._heading_page = page
        if level == 1:
            self._first_h1 = self._first_h1 or text

    def _close_bare(self, level: int) -> None:
        """A heading with nothing under it would vanish with its path: it becomes a block of its own."""
        if self._bare and self._path[-1][0] >= level:
            _, text = self._path.pop()
            self._blocks.append(Block(text, self._headings(), self._heading_page))
        self._bare = False

    def _add(self, text: str, page: int | None) -> None:
        text = _WIDE.sub(r"\1\2", shown(text)).strip("\n").rstrip()
        if not text.strip():
            return
        self._count(text)
        self._blocks.append(Block(text, self._headings(), page))
        self._bare = False

    def _row(self, row: str | FaqPair, page: int | None) -> None:
        self._rows += 1
        if self._rows > self._limits.max_rows:
            raise DocumentTooLarge(self._name, f"超过 {self._limits.max_rows} 行的上限，请拆分后再上传")
        if isinstance(row, str):
            self._add(row, page)
            return
        self._count(row.question + row.answer + "".join(row.variants))
        self._faqs.append(row)
        self._bare = False

    def _headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._path)

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.max_characters:
            raise DocumentTooLarge(self._name, f"超过 {self._limits.max_characters} 字的上限，请拆分后再上传")


def _one_line(text: str) -> str:
    return " ".join(shown(text).split())
