"""Turns pages of lines, of a PDF or recognised, into pieces: without repeated headers and footers, wraps undone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from knowledge.blocks import Block
from knowledge.parsing.lines import FULL, TextLine, join_wrapped_lines
from knowledge.parsing.omissions import Omissions, OmittedPart
from knowledge.parsing.pdf_columns import order_columns
from knowledge.parsing.pdf_layout import PageLine, find_tables, is_table_head
from knowledge.parsing.pieces import Heading, ParsedTable, Piece, Title

# Lines at the top and at the bottom of a page that may be a running header or footer.
_EDGE = 3
_LEADER = re.compile(r"(?:[.．·…]\s?){4,}\d+\s*$")
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:第\s*)?\d{1,4}(?:\s*页)?(?:[\s/／,，共]+\d{1,4}(?:\s*页)?)?[-–—\s]*")
_MAX_DEPTH = 8
_MAX_HEADING = 60
# Times the size of the body text; a heading in the size of the body is told by its number alone.
_LARGER = 1.12
# Em; narrower text is not wrapped: a title page, a list of names.
_MIN_COLUMN = 20

# Heading level by page (from 1) and text without spaces.
Bookmarks = Mapping[tuple[int, str], int]


def extract_body(pages: Sequence[list[PageLine]], left_out: Omissions) -> list[list[PageLine]]:
    """Returns the lines of each page in reading order; headers, footers and contents are counted as omitted."""
    return order_columns(_remove_furniture(pages, left_out))


def build_pieces(pages: Sequence[Sequence[PageLine]], bookmarks: Bookmarks) -> Iterator[Piece]:
    """Yields the pieces of pages. The title is the one largest line of the first page.

    Args:
        pages: The bodies of the pages, with at least one line.
        bookmarks: The bookmarks of the document.
    """
    lines = [line for page in pages for line in page]
    written = [line for line in lines if line.kind is None]
    ranks = _rank_sizes(written)
    columns = _find_columns(written)
    run: list[TextLine] = []
    apart: list[Block] = []
    for item in find_tables(lines):
        if isinstance(item, PageLine) and item.kind is not None:
            apart.append(Block(item.text, page=item.page, kind=item.kind))
        elif (heading := item if isinstance(item, ParsedTable) else _build_heading(item, bookmarks, ranks)) is not None:
            yield from _flush_lines(run, apart)
            yield heading
        elif isinstance(item, PageLine):
            left, right = columns[item.page, item.column]
            wide = item.column or right - left >= _MIN_COLUMN * item.size
            if apart and not (run and run[-1].full):
                yield from _flush_lines(run, apart)
            run.append(TextLine(item.text, bool(wide) and item.right - left >= FULL * (right - left), item.page))
    yield from _flush_lines(run, apart)


def _flush_lines(run: list[TextLine], apart: list[Block]) -> Iterator[Piece]:
    """Yields the open paragraphs, and then what stood among their lines but is no part of them."""
    yield from join_wrapped_lines(run)
    yield from apart
    run.clear()
    apart.clear()


def _remove_furniture(pages: Sequence[list[PageLine]], left_out: Omissions) -> Iterator[list[PageLine]]:
    """Drops lines at the edges that repeat on most pages (numbers aside), page numbers, and lines of contents."""
    edges = Counter(key for page in pages for key in {_mask_digits(line.text) for line in page[:_EDGE] + page[-_EDGE:]})
    repeated = {key for key, count in edges.items() if count >= 2 and count > len(pages) / 2}
    for page in pages:
        kept = []
        for index, (line, following) in enumerate(zip_longest(page, page[1:])):
            at_edge = index < _EDGE or index >= len(page) - _EDGE
            # The header of a table that goes on returns too, but it stands on columns.
            running = (
                at_edge and _mask_digits(line.text) in repeated and not (following and is_table_head(line, following))
            )
            number = len(pages) > 1 and index in (0, len(page) - 1) and _PAGE_NUMBER.fullmatch(line.text)
            if running or number or _LEADER.search(line.text):
                part = OmittedPart.PAGE_NUMBER if number else OmittedPart.RUNNING if running else OmittedPart.CONTENTS
                left_out.add(part, line.text, line.page)
            else:
                kept.append(line)
        yield kept


def _rank_sizes(lines: Sequence[PageLine]) -> dict[int, int]:
    """Returns heading levels by rounded font size for sizes above the body's; level 1 titles the document."""
    if not lines:
        return {}
    amounts: Counter[int] = Counter()
    for line in lines:
        amounts[round(line.size)] += len(line.text)
    body = amounts.most_common(1)[0][0]
    larger = sorted((size for size in amounts if size >= _LARGER * body), reverse=True)
    if not larger:
        return {}
    top = [line for line in lines if round(line.size) == larger[0]]
    first = 1 if len(top) == 1 and top[0].page == lines[0].page else 2
    return {size: min(first + rank, _MAX_DEPTH) for rank, size in enumerate(larger)}


def _build_heading(line: PageLine, bookmarks: Bookmarks, ranks: dict[int, int]) -> Heading | Title | None:
    level = bookmarks.get((line.page, remove_space(line.text))) or ranks.get(round(line.size))
    if level is None or len(line.text) > _MAX_HEADING:
        return None
    return Title(line.text) if level == 1 else Heading(level, line.text, line.page)


def _find_columns(lines: Sequence[PageLine]) -> dict[tuple[int, int], tuple[float, float]]:
    """Returns the left and right edge of the text of every page (column 0) and of each of its columns."""
    edges: dict[tuple[int, int], tuple[float, float]] = {}
    for line in lines:
        for column in {(line.page, 0), (line.page, line.column)}:
            left, right = edges.get(column, (line.left, line.right))
            edges[column] = min(left, line.left), max(right, line.right)
    return edges


def _mask_digits(line: str) -> str:
    return re.sub(r"\d+", "#", remove_space(line))


def remove_space(text: str) -> str:
    """Removes white space."""
    return re.sub(r"\s+", "", text)
