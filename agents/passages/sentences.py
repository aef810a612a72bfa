"""Sentences of a chunk as verbatim spans."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.passages.rows import TableRow
from knowledge.blocks import BlockKind, Layout, Span, read_layout
from knowledge.marks import guess_spans

# Longer ones are cut at a clause, so that one run-on sentence cannot become the whole reply.
MAX_SENTENCE_CHARS = 200
# Of a row or a line of code.
MAX_UNDIVIDED_CHARS = 400
MAX_HEADING_CHARS = 30
_TITLED = (BlockKind.PARAGRAPH, BlockKind.NOTE)
_UNDIVIDED = (BlockKind.ROW, BlockKind.CODE, BlockKind.FIELD)

_LINE = re.compile(r"[^\r\n]+")
# A semicolon does not end a sentence: 型号：A4；噪声：30 dB is one row of a table, and half of it is misleading. Nor
# does the sign before an image, ![图](a.png), or the one within an address, https://a.example/?id=3.
_END = re.compile(
    r"(?:(?<!<)(?:[。！？]|\?(?!(?<=[!-~]\?)[A-Za-z0-9%&=_])|!(?!\[))+(?![”’」』\"']*\s+[a-z])|(?<![0-9A-Z])\.(?=\s+[A-Z\u4e00-\u9fff\"'“]))[”’」』）)】》\"']*"
)
_CLAUSE = re.compile(r"[；;，,：:、](?!\d)")
_QUESTION_MARK = re.compile(r"\s*(?:问|Q|提问|问题)\s*\d*\s*[：:、.]", re.IGNORECASE)
_NO_HEADING = re.compile(r"^\s*[-*•·●▪◦+①-⑳]|[。！!；;，,：:…”」』.]\s*$|[：；]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A verbatim span of a chunk. `text` is `chunk[start:end]`; `line` counts the chunk's non-empty lines from 0."""

    text: str
    start: int
    end: int
    line: int
    # The block that it is part of.
    block: Span
    # Whether it begins the block.
    first: bool

    @property
    def is_item(self) -> bool:
        """Whether it is a list item or numbered step."""
        return self.block.kind is BlockKind.ITEM and self.first

    @property
    def is_step(self) -> bool:
        """Whether it is a numbered item."""
        return self.is_item and any(character.isalnum() for character in self.block.marker)

    @property
    def text_without_marker(self) -> str:
        """The text without its marker: alone, the fourth step of a list is no fourth step to a reader."""
        return self.text.removeprefix(self.block.marker).lstrip() or self.text if self.is_item else self.text

    @property
    def can_head(self) -> bool:
        """Whether it is a heading, or short and without an end, as headings of plain text and titles of notes are."""
        if self.block.kind not in _TITLED:
            return self.block.kind is BlockKind.HEADING
        return len(self.text) <= MAX_HEADING_CHARS and not _NO_HEADING.search(self.text)

    @property
    def is_code(self) -> bool:
        """Whether it is code."""
        return self.block.kind is BlockKind.CODE

    @property
    def read_chars(self) -> int:
        """Characters that are read; code is looked at instead."""
        return 0 if self.is_code else len(self.text)

    @property
    def is_row(self) -> bool:
        """Whether it is a whole row of a table, its cells named by the heads of their columns."""
        return self.block.kind is BlockKind.ROW and len(self.block.cells) > 1 and self.end - self.start == self._length

    @property
    def _length(self) -> int:
        return self.block.end - self.block.start

    @property
    def row(self) -> TableRow:
        """The cells of a row."""
        return TableRow.from_pairs(self.block.cells)

    @property
    def is_lead_in(self) -> bool:
        """Whether it announces what follows, or asks, and so answers nothing alone."""
        return self.text.endswith(("：", ":", "如下", "如下。")) or self.is_question

    @property
    def is_question(self) -> bool:
        """Whether it ends as a question."""
        return self.text.endswith(("？", "?"))

    @property
    def is_marked_question(self) -> bool:
        """Whether it is the question of a dialogue, whose answer is the next line."""
        return self.is_question and _QUESTION_MARK.match(self.text) is not None


def split_sentences(text: str, layout: Layout | None = None) -> list[Sentence]:
    """Returns all sentences in order. Blocks, lines and sentence ends separate them; only white space is lost.

    Rows of tables and lines of code are not divided. layout: of the text; None guesses it.
    """
    sentences: list[Sentence] = []
    line = 0
    for block in guess_spans(text) if layout is None else read_layout(layout):
        first = True
        for match in _LINE.finditer(text, block.start, block.end):
            found = [span for span in _split_line(text, block, *match.span()) if span[0] < span[1]]
            for start, end in found:
                sentences.append(Sentence(text[start:end], start, end, line, block, first))
                first = False
            line += bool(found)
    return sentences


def _split_line(text: str, block: Span, start: int, end: int) -> list[tuple[int, int]]:
    if block.kind in _UNDIVIDED and end - start <= MAX_UNDIVIDED_CHARS:
        return [_strip_span(text, start, end)]
    return _split_at_ends(text, start, end)


def _split_at_ends(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    for match in _END.finditer(text, start, end):
        spans.extend(_split_long(text, start, match.end()))
        start = match.end()
    spans.extend(_split_long(text, start, end))
    return spans


def _split_long(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans = []
    while end - start > MAX_SENTENCE_CHARS:
        cuts = [m.end() for m in _CLAUSE.finditer(text, start + MAX_SENTENCE_CHARS // 4, start + MAX_SENTENCE_CHARS)]
        cut = cuts[-1] if cuts else start + MAX_SENTENCE_CHARS
        spans.append(_strip_span(text, start, cut))
        start = cut
    spans.append(_strip_span(text, start, end))
    return spans


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    first = end - len(part.lstrip())
    return first, first + len(part.strip())
