"""From the stream of pieces to a ParsedDocument: heading paths, tables as rows, FAQ pairs, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

from knowledge.errors import DocumentTooLarge, EmptyDocument
from knowledge.numbering import article
from knowledge.parsing.characters import shown
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.lines import ARTICLE_LEVEL
from knowledge.parsing.pieces import Enclosed, Heading, Paragraph, ParsedTable, Piece, Title
from knowledge.parsing.rows import Taken, read_rows
from knowledge.types import Block, FaqColumns, FaqPair, Notice, NoticeCode, ParsedDocument

_MAX_TITLE = 200
"""Characters; the title is a part of every chunk's indexed text."""
_WIDE = re.compile(r"([^\S\n]{20})[^\S\n]+|(\n\s{18}\n)\s*\n")
"""White space that nobody sees the end of: it is free in a chunk, which it would make as long as the document."""
_MAX_HEADING = 120
"""Characters; what is longer is a paragraph in heading's clothes and would drown the chunk's own text."""

_MAX_NOTICES = 50
"""Of one file: a workbook may have as many tables as it likes."""


def assemble(
    name: str, pieces: Iterable[Piece], limits: ParsingLimits, columns: FaqColumns | None = None
) -> ParsedDocument:
    """Builds the document. `columns`: of questions and answers. Raises EmptyDocument, DocumentTooLarge."""
    assembly = _Assembly(name, limits, columns)
    for piece in pieces:
        assembly.take(piece)
    return assembly.finish()


class _Assembly:
    def __init__(self, name: str, limits: ParsingLimits, columns: FaqColumns | None) -> None:
        self._name = name
        self._limits = limits
        self._columns = columns
        self._columns_found = False
        self._notices: dict[Notice, None] = {}
        self._title = ""
        self._first_h1 = ""
        self._path: list[tuple[int, str]] = []
        self._article_level = 0
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
                if number := article(text):
                    self._heading(self._level_of_articles(), number, page)
                self._add(text, page)
            case ParsedTable():
                for row in read_rows(piece, self._columns):
                    self._row(row, piece.page)
            case Enclosed(name, document):
                self._enclose(_one_line(name), document)
            case Notice():
                self._notices[piece] = None

    def finish(self) -> ParsedDocument:
        self._close_bare(0)
        if not self._blocks and not self._faqs:
            raise EmptyDocument(self._name, "里没有可读的文字")
        title = self._title or self._first_h1 or PurePath(self._name).stem
        if self._columns and not self._columns_found:
            self._notices[_missing(self._columns)] = None
        notices = tuple(self._notices)[:_MAX_NOTICES]
        return ParsedDocument(title=title, blocks=tuple(self._blocks), faqs=tuple(self._faqs), notices=notices)

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

    def _level_of_articles(self) -> int:
        """Of all articles of the document: below what the first one stands under."""
        if not self._article_level:
            above = self._path[-1][0] + 1 if self._path else 0
            self._article_level = max(ARTICLE_LEVEL, above)
        return self._article_level

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

    def _enclose(self, name: str, document: ParsedDocument) -> None:
        above = (*self._headings(), *([name] if name else []))
        for block in document.blocks:
            self._count(block.text)
            self._blocks.append(Block(block.text, (*above, *block.heading_path), block.page))
        for pair in document.faqs:
            self._row(pair, None)
        self._notices |= dict.fromkeys(document.notices)
        self._bare = False

    def _row(self, row: str | FaqPair | Taken, page: int | None) -> None:
        if isinstance(row, Taken):
            self._columns_found |= row.asked
            self._notices[_taken(row, self._path[-1][1] if self._path else "")] = None
            return
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


def _taken(row: Taken, place: str) -> Notice:
    where = f"「{place}」的表格" if place else "表格"
    left_out = f"；没有读取的列：{'、'.join(row.left_out)}" if row.left_out else ""
    return Notice(
        NoticeCode.FAQ_COLUMNS, f"{where}按问答读取：问题取「{row.question}」列，答案取「{row.answer}」列{left_out}"
    )


def _missing(columns: FaqColumns) -> Notice:
    return Notice(
        NoticeCode.FAQ_COLUMNS_MISSING,
        f"没有哪张表格同时有「{columns.question}」列和「{columns.answer}」列，已按自动识别的结果读取",
    )


def _one_line(text: str) -> str:
    return " ".join(shown(text).split())
