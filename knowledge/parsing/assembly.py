"""From the stream of pieces to a ParsedDocument: heading paths, groups, tables as rows, FAQ pairs, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath

from knowledge.blocks import INDENT, Block, BlockKind
from knowledge.errors import DocumentTooLarge, EmptyDocument
from knowledge.marks import item_marker
from knowledge.numbering import article
from knowledge.parsing.characters import shown
from knowledge.parsing.dated import find_day
from knowledge.parsing.entries import take_entries
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.lines import ARTICLE_LEVEL
from knowledge.parsing.pieces import (
    AskedEntry,
    Box,
    Enclosed,
    FrontMatter,
    Heading,
    ParsedTable,
    Piece,
    TextPiece,
    Title,
)
from knowledge.parsing.rows import Taken, read_rows
from knowledge.types import FaqColumns, FaqPair, Notice, NoticeCode, ParsedDocument
from knowledge.versions import MAX_CHARS

_MAX_TITLE = 200
"""Characters; the title is a part of every chunk's indexed text."""
_WIDE = re.compile(r"([^\S\n]{20})[^\S\n]+|(\n\s{18}\n)\s*\n")
"""White space that nobody sees the end of: it is free in a chunk, which it would make as long as the document."""
_MAX_HEADING = 120
"""Characters; what is longer is a paragraph in heading's clothes and would drown the chunk's own text."""

_MAX_INDENT = 8
_ANNOUNCES = re.compile(r"(?:[：:]|如下[。.]?)\s*$")

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
        self._product = self._version = self._dated = ""
        self._groups = 0
        self._group = 0
        self._in_list = False
        self._lead = ""
        self._characters = 0
        self._rows = 0

    def take(self, piece: Piece) -> None:
        match piece:
            case Title(text):
                self._title = self._title or _one_line(text)[:_MAX_TITLE]
            case FrontMatter(product, version, dated):
                self._dated = dated
                self._product, self._version = (_one_line(text)[:MAX_CHARS] for text in (product, version))
            case Heading(level, text, page):
                self._heading(level, _one_line(text), page)
            case TextPiece():
                for part in _items(piece):
                    self._text(part)
            case ParsedTable():
                self._table(piece)
            case Box():
                self._box(piece)
            case AskedEntry():
                self._entry(piece)
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
        blocks, faqs = take_entries(self._blocks, self._faqs)
        dated = self._dated or find_day(blocks)
        return ParsedDocument(title, blocks, faqs, notices, self._product, self._version, dated)

    def _heading(self, level: int, text: str, page: int | None) -> None:
        if not text:
            return
        if len(text) > _MAX_HEADING:
            self._text(TextPiece(text, page))
            return
        self._close_bare(level)
        self._close_group()
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
            self._blocks.append(Block(text, self._headings(), self._heading_page, BlockKind.HEADING))
        self._bare = False

    def _text(self, text: TextPiece) -> None:
        if text.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) and (number := article(text.text)):
            self._heading(self._level_of_articles(), number, text.page)
        if text.kind is BlockKind.ITEM:
            self._opens(in_list=True)
        elif self._in_list and not text.level:
            self._close_group()
        indent = INDENT * min(text.level, _MAX_INDENT)
        self._add(
            Block(
                indent + text.text.replace("\n", "\n" + indent),
                page=text.page,
                kind=text.kind,
                level=text.level,
                marker=text.marker,
                label=text.label,
                markdown=text.markdown,
            )
        )

    def _opens(self, *, in_list: bool = False) -> None:
        """A group begins, unless the list that it would go on with is open."""
        if in_list and self._in_list:
            return
        self._groups += 1
        last = self._blocks[-1] if self._blocks and not self._bare else None
        announced = last and last.kind is BlockKind.PARAGRAPH and _ANNOUNCES.search(last.text)
        self._lead = last.text.rpartition("\n")[2] if last and announced else ""
        self._group, self._in_list = self._groups, in_list

    def _close_group(self) -> None:
        self._group, self._in_list = 0, False

    def _table(self, table: ParsedTable) -> None:
        self._opens()
        for row in read_rows(table, self._columns):
            if isinstance(row, Block):
                self._count_row()
                self._add(row)
            else:
                self._row(row)
        self._group = 0

    def _box(self, box: Box) -> None:
        """All of it is one group; what is a paragraph elsewhere is a note or a quotation here."""
        self._opens()
        group, lead = self._group, self._lead
        first = len(self._blocks)
        titled = [TextPiece(box.title)] if box.title else []
        for piece in (*titled, *box.pieces):
            self.take(piece)
        for at in range(first, len(self._blocks)):
            block = self._blocks[at]
            kind = box.kind if block.kind is BlockKind.PARAGRAPH else block.kind
            self._blocks[at] = replace(block, kind=kind, label=block.label or box.label, group=group, lead=lead)
        self._close_group()

    def _entry(self, entry: AskedEntry) -> None:
        self._close_group()
        first, path, faqs = len(self._blocks), self._headings(), len(self._faqs)
        for piece in entry.answer:
            self.take(piece)
        answer = tuple(replace(block, heading_path=()) for block in self._blocks[first:])
        text = "\n".join(block.text for block in answer)
        if len(self._faqs) > faqs or not text:  # a table of questions within an answer: nothing of it may be lost
            self._blocks[first:first] = [Block(_one_line(entry.question), path, entry.page, BlockKind.HEADING)]
            return
        del self._blocks[first:]
        variants = tuple(map(_one_line, entry.variants))
        self._count(entry.question)
        pair = FaqPair(_one_line(entry.question), text, variants, "", path, entry.page, answer, first)
        self._faqs.append(pair)
        self._bare = self._in_list = False

    def _add(self, block: Block) -> None:
        """A block of the section and the group that are open."""
        text = _WIDE.sub(r"\1\2", shown(block.text)).strip("\n").rstrip()
        if not text.strip():
            return
        self._count(text)
        lead = self._lead if self._group else ""
        self._blocks.append(replace(block, text=text, heading_path=self._headings(), group=self._group, lead=lead))
        self._bare = False

    def _enclose(self, name: str, document: ParsedDocument) -> None:
        above, first = (*self._headings(), *([name] if name else [])), len(self._blocks)
        most = self._groups
        for block in document.blocks:
            self._count(block.text)
            group = block.group and block.group + most
            self._groups = max(self._groups, group)
            self._blocks.append(replace(block, heading_path=(*above, *block.heading_path), group=group))
        for pair in document.faqs:
            path = (*above, *pair.heading_path) if pair.blocks else ()
            self._row(replace(pair, heading_path=path, after=first + pair.after))
        self._notices |= dict.fromkeys(document.notices)
        self._bare = False

    def _row(self, row: FaqPair | Taken | Notice) -> None:
        if isinstance(row, Notice):
            place = f"「{self._path[-1][1]}」" if self._path else ""
            self._notices[replace(row, message=place + row.message)] = None
            return
        if isinstance(row, Taken):
            self._columns_found |= row.asked
            self._notices[_taken(row, self._path[-1][1] if self._path else "")] = None
            return
        self._count_row()
        self._count(row.question + row.answer + "".join(row.variants))
        self._faqs.append(row if row.after else replace(row, after=len(self._blocks)))
        self._bare = False

    def _count_row(self) -> None:
        self._rows += 1
        if self._rows > self._limits.max_rows:
            raise DocumentTooLarge(self._name, f"超过 {self._limits.max_rows} 行的上限，请拆分后再上传")

    def _headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._path)

    def _count(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.max_characters:
            raise DocumentTooLarge(self._name, f"超过 {self._limits.max_characters} 字的上限，请拆分后再上传")


def _items(text: TextPiece) -> Iterator[TextPiece]:
    """A paragraph, divided where its lines are marked as items of a list: formats leave that to the reader."""
    if text.kind is not BlockKind.PARAGRAPH:
        yield text
        return
    lines = text.text.split("\n")
    markers = [item_marker(line) for line in lines]
    starts = sorted({0, *(number for number, marker in enumerate(markers) if marker)})
    for start, end in pairwise([*starts, len(lines)]):
        kind = BlockKind.ITEM if markers[start] else BlockKind.PARAGRAPH
        part = "\n".join(lines[start:end]).lstrip() if markers[start] else "\n".join(lines[start:end])
        yield replace(
            text, text=part, kind=kind, marker=markers[start], markdown=text.markdown if len(starts) == 1 else ""
        )


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
