"""Assembles a stream of pieces into a ParsedDocument: heading paths, groups, table rows, FAQ pairs, limits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath

from knowledge.blocks import INDENT, Block, BlockKind
from knowledge.errors import DocumentTooLarge, EmptyDocument
from knowledge.marks import find_item_marker
from knowledge.numbering import find_article_number
from knowledge.parsing.characters import remove_unseen
from knowledge.parsing.document_date import find_day
from knowledge.parsing.entries import extract_entries
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
    Title,
)
from knowledge.parsing.rows import FaqColumnsUsed, read_rows
from knowledge.types import FaqColumns, FaqPair, Notice, NoticeCode, ParsedDocument
from knowledge.versions import MAX_CHARS

# Characters; the title is a part of every chunk's indexed text.
_MAX_TITLE = 200
# White space that nobody sees the end of: it is free in a chunk, which it would make as long as the document.
_WIDE = re.compile(r"([^\S\n]{20})[^\S\n]+|(\n\s{18}\n)\s*\n")
# Characters; what is longer is a paragraph in heading's clothes and would drown the chunk's own text.
_MAX_HEADING = 120

_MAX_INDENT = 8
_ANNOUNCES = re.compile(r"(?:[：:]|如下[。.]?)\s*$")

# Of one file: a workbook may have as many tables as it likes.
_MAX_NOTICES = 50


def assemble(
    name: str, pieces: Iterable[Piece], limits: ParsingLimits, columns: FaqColumns | None = None
) -> ParsedDocument:
    """Builds the document.

    Args:
        name: Name of the file.
        pieces: The pieces in reading order.
        limits: Limits on the document.
        columns: The columns of questions and answers; None to detect them.

    Raises:
        EmptyDocument: If there is no text.
        DocumentTooLarge: If it exceeds a limit.
    """
    assembly = _Assembly(name, limits, columns)
    for piece in pieces:
        assembly.add_piece(piece)
    return assembly.build_document()


class _Assembly:
    """The state of an assembly: open headings, the open group, and what was collected."""

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

    def add_piece(self, piece: Piece) -> None:
        """Adds the next piece."""
        match piece:
            case Title(text):
                self._title = self._title or _join_lines(text)[:_MAX_TITLE]
            case FrontMatter(product, version, dated):
                self._dated = dated
                self._product, self._version = (_join_lines(text)[:MAX_CHARS] for text in (product, version))
            case Heading(level, text, page):
                self._add_heading(level, _join_lines(text), page)
            case Block():
                for part in _split_items(piece):
                    self._add_text(part)
            case ParsedTable():
                self._add_table(piece)
            case Box():
                self._add_box(piece)
            case AskedEntry():
                self._add_entry(piece)
            case Enclosed(name, document):
                self._add_enclosed(_join_lines(name), document)
            case Notice():
                self._notices[piece] = None

    def build_document(self) -> ParsedDocument:
        """Closes what is open and returns the document.

        Raises:
            EmptyDocument: If there is no text.
        """
        self._close_bare_heading(0)
        if not self._blocks and not self._faqs:
            raise EmptyDocument(self._name, "里没有可读的文字")
        title = self._title or self._first_h1 or PurePath(self._name).stem
        if self._columns and not self._columns_found:
            self._notices[_report_missing_columns(self._columns)] = None
        notices = tuple(self._notices)[:_MAX_NOTICES]
        blocks, faqs = extract_entries(self._blocks, self._faqs)
        dated = self._dated or find_day(blocks)
        return ParsedDocument(title, blocks, faqs, notices, self._product, self._version, dated)

    def _add_heading(self, level: int, text: str, page: int | None) -> None:
        if not text:
            return
        if len(text) > _MAX_HEADING:
            self._add_text(Block(text, page=page))
            return
        self._close_bare_heading(level)
        self._close_group()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._path.append((level, text))
        self._count_characters(text)
        self._bare = True
        self._heading_page = page
        if level == 1:
            self._first_h1 = self._first_h1 or text

    def _get_article_level(self) -> int:
        """Returns the heading level of all articles of the document: one below the headings of the first one."""
        if not self._article_level:
            above = self._path[-1][0] + 1 if self._path else 0
            self._article_level = max(ARTICLE_LEVEL, above)
        return self._article_level

    def _close_bare_heading(self, level: int) -> None:
        """Turns a heading with nothing below it into a block: it would vanish with its path."""
        if self._bare and self._path[-1][0] >= level:
            _, text = self._path.pop()
            self._blocks.append(Block(text, self._list_headings(), self._heading_page, BlockKind.HEADING))
        self._bare = False

    def _add_text(self, text: Block) -> None:
        if text.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) and (number := find_article_number(text.text)):
            self._add_heading(self._get_article_level(), number, text.page)
        if text.kind is BlockKind.ITEM:
            self._open_group(in_list=True)
        elif self._in_list and not text.level:
            self._close_group()
        indent = INDENT * min(text.level, _MAX_INDENT)
        self._add_block(replace(text, text=indent + text.text.replace("\n", "\n" + indent)))

    def _open_group(self, *, in_list: bool = False) -> None:
        """Begins a group, unless the open list continues."""
        if in_list and self._in_list:
            return
        self._groups += 1
        last = self._blocks[-1] if self._blocks and not self._bare else None
        announced = last and last.kind is BlockKind.PARAGRAPH and _ANNOUNCES.search(last.text)
        self._lead = last.text.rpartition("\n")[2] if last and announced else ""
        self._group, self._in_list = self._groups, in_list

    def _close_group(self) -> None:
        self._group, self._in_list = 0, False

    def _add_table(self, table: ParsedTable) -> None:
        self._open_group()
        for row in read_rows(table, self._columns):
            if isinstance(row, Block):
                self._count_row()
                self._add_block(row)
            else:
                self._add_row(row)
        self._group = 0

    def _add_box(self, box: Box) -> None:
        """Adds a box as one group; a paragraph in it becomes a note or a quotation."""
        self._open_group()
        group, lead = self._group, self._lead
        first = len(self._blocks)
        titled = [Block(box.title)] if box.title else []
        for piece in (*titled, *box.pieces):
            self.add_piece(piece)
        for at in range(first, len(self._blocks)):
            block = self._blocks[at]
            kind = box.kind if block.kind is BlockKind.PARAGRAPH else block.kind
            self._blocks[at] = replace(block, kind=kind, label=block.label or box.label, group=group, lead=lead)
        self._close_group()

    def _add_entry(self, entry: AskedEntry) -> None:
        self._close_group()
        first, path, faqs = len(self._blocks), self._list_headings(), len(self._faqs)
        for piece in entry.answer:
            self.add_piece(piece)
        answer = tuple(replace(block, heading_path=()) for block in self._blocks[first:])
        text = "\n".join(block.text for block in answer)
        if len(self._faqs) > faqs or not text:  # a table of questions within an answer: nothing of it may be lost
            self._blocks[first:first] = [Block(_join_lines(entry.question), path, kind=BlockKind.HEADING)]
            return
        del self._blocks[first:]
        self._count_characters(entry.question)
        pair = FaqPair(_join_lines(entry.question), text, heading_path=path, blocks=answer, after=first)
        self._faqs.append(pair)
        self._bare = self._in_list = False

    def _add_block(self, block: Block) -> None:
        """Adds a block to the open section and group."""
        text = _WIDE.sub(r"\1\2", remove_unseen(block.text)).strip("\n").rstrip()
        if not text.strip():
            return
        self._count_characters(text)
        lead = self._lead if self._group else ""
        self._blocks.append(replace(block, text=text, heading_path=self._list_headings(), group=self._group, lead=lead))
        self._bare = False

    def _add_enclosed(self, name: str, document: ParsedDocument) -> None:
        above, first = (*self._list_headings(), *([name] if name else [])), len(self._blocks)
        most = self._groups
        for block in document.blocks:
            self._count_characters(block.text)
            group = block.group and block.group + most
            self._groups = max(self._groups, group)
            self._blocks.append(replace(block, heading_path=(*above, *block.heading_path), group=group))
        for pair in document.faqs:
            path = (*above, *pair.heading_path) if pair.blocks else ()
            self._add_row(replace(pair, heading_path=path, after=first + pair.after))
        self._notices |= dict.fromkeys(document.notices)
        self._bare = False

    def _add_row(self, row: FaqPair | FaqColumnsUsed | Notice) -> None:
        if isinstance(row, Notice):
            section = f"「{self._path[-1][1]}」" if self._path else ""
            self._notices[replace(row, message=section + row.message)] = None
            return
        if isinstance(row, FaqColumnsUsed):
            self._columns_found |= row.requested
            self._notices[_report_columns(row, self._path[-1][1] if self._path else "")] = None
            return
        self._count_row()
        self._count_characters(row.question + row.answer + "".join(row.variants))
        self._faqs.append(row if row.after else replace(row, after=len(self._blocks)))
        self._bare = False

    def _count_row(self) -> None:
        self._rows += 1
        if self._rows > self._limits.max_rows:
            raise DocumentTooLarge(self._name, f"超过 {self._limits.max_rows} 行的上限，请拆分后再上传")

    def _list_headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._path)

    def _count_characters(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.max_characters:
            raise DocumentTooLarge(self._name, f"超过 {self._limits.max_characters} 字的上限，请拆分后再上传")


def _split_items(text: Block) -> Iterator[Block]:
    """Splits a paragraph whose lines are marked as list items; formats leave that to the reader."""
    if text.kind is not BlockKind.PARAGRAPH:
        yield text
        return
    lines = text.text.split("\n")
    markers = [find_item_marker(line) for line in lines]
    starts = sorted({0, *(number for number, marker in enumerate(markers) if marker)})
    for start, end in pairwise([*starts, len(lines)]):
        kind = BlockKind.ITEM if markers[start] else BlockKind.PARAGRAPH
        part = "\n".join(lines[start:end]).lstrip() if markers[start] else "\n".join(lines[start:end])
        yield replace(
            text, text=part, kind=kind, marker=markers[start], markdown=text.markdown if len(starts) == 1 else ""
        )


def _report_columns(row: FaqColumnsUsed, section: str) -> Notice:
    where = f"「{section}」的表格" if section else "表格"
    left_out = f"；没有读取的列：{'、'.join(row.left_out)}" if row.left_out else ""
    return Notice(
        NoticeCode.FAQ_COLUMNS, f"{where}按问答读取：问题取「{row.question}」列，答案取「{row.answer}」列{left_out}"
    )


def _report_missing_columns(columns: FaqColumns) -> Notice:
    return Notice(
        NoticeCode.FAQ_COLUMNS_MISSING,
        f"没有哪张表格同时有「{columns.question}」列和「{columns.answer}」列，已按自动识别的结果读取",
    )


def _join_lines(text: str) -> str:
    return " ".join(remove_unseen(text).split())
