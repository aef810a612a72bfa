"""Turns plain lines into headings and paragraphs: numbered headings, list items, wrapped lines (PDF and TXT)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from knowledge.blocks import Block, BlockKind
from knowledge.marks import find_item_marker
from knowledge.numbering import find_article_number
from knowledge.parsing.pieces import Heading

_ORDINAL = "[一二三四五六七八九十百零〇两0-9]"
_HEADINGS = (
    (11, re.compile(rf"第{_ORDINAL}{{1,5}}[章篇](?![^\s：:]*[，。])")),
    (12, re.compile(rf"第{_ORDINAL}{{1,5}}节(?![^\s：:]*[，。])")),
    (14, re.compile(r"[一二三四五六七八九十]{1,3}[、．.]\s*\S")),
    (15, re.compile(r"[（([一二三四五六七八九十]{1,3}[）)]\s*\S")),
)
_DECIMAL = re.compile(r"(\d{1,2}(?:[.．]\d{1,2}){1,3})[.．、]?\s+(?=[^\W\d_])")
# Of 第十二条: below 章 and 节, above 一、.
ARTICLE_LEVEL = 13
# Numbered headings rank below all headings that a document declares itself (levels 1-10).
_DECIMAL_LEVEL = 16
_SENTENCE_END = re.compile(r"[。！？；：…!?;:][”’」』）)】》\"']*$|\.[\"')]*$")
_HEADING_CANNOT_END = re.compile(r"[。；;，,、]$")
_MAX_HEADING = 40
# A line that fills less of its text column than this ends its paragraph.
FULL = 0.85


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line. `full`: it fills its text column, so the next line may continue it. Empty: a blank line."""

    text: str
    full: bool
    page: int | None = None


def find_heading_level(line: str) -> int | None:
    """Returns the level of a line that is numbered like a heading (第三章, 一、, （一）, 1.2 xxx), else None."""
    if len(line) > _MAX_HEADING or _HEADING_CANNOT_END.search(line):
        return None
    for level, pattern in _HEADINGS:
        if pattern.match(line):
            return level
    decimal = _DECIMAL.match(line)
    return _DECIMAL_LEVEL + decimal.group(1).count(".") + decimal.group(1).count("．") if decimal else None


def join_wrapped_lines(lines: Iterable[TextLine]) -> Iterator[Heading | Block]:
    """Joins wrapped lines into paragraphs, without a space between CJK, with one between Latin words.

    A paragraph keeps the page on which it begins.
    """
    text, page = "", None
    for line in lines:
        current = line.text.strip()
        if text and (not current or (find_item_marker(current) or find_article_number(current))):
            yield _build_text(text, page)
            text = ""
        if not current:
            continue
        level = find_heading_level(current)
        # A wrapped line may begin with "3.5 mm" by chance: only a fresh line can be a decimal heading.
        if level is not None and not (text and level >= _DECIMAL_LEVEL):
            if text:
                yield _build_text(text, page)
                text = ""
            yield Heading(level, current, line.page)
            continue
        page = page if text else line.page
        text = join_wrapped(text, current)
        if not line.full or _SENTENCE_END.search(current):
            yield _build_text(text, page)
            text = ""
    if text:
        yield _build_text(text, page)


def _build_text(text: str, page: int | None) -> Block:
    """Builds a piece: a list item if the text begins with a marker, since nothing else tells it in these formats."""
    marker = find_item_marker(text)
    return Block(text, page=page, kind=BlockKind.ITEM if marker else BlockKind.PARAGRAPH, marker=marker)


def join_wrapped(left: str, right: str) -> str:
    """Joins the two halves of a wrapped text, with a space only between Latin words."""
    if not left or not right:
        return left or right
    spaced = left[-1].isascii() and right[0].isascii() and left[-1] not in "-/"
    return f"{left} {right}" if spaced else left + right
