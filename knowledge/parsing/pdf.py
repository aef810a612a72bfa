"""PDF: pages without running headers and footers, hard wraps undone; headings by bookmark, size or number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from threading import Lock

import pypdfium2
from pypdfium2 import raw

from knowledge.errors import DocumentTooLarge, EmptyDocument, EncryptedDocument
from knowledge.parsing.archive import check_streams
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.lines import FULL, TextLine, reflow
from knowledge.parsing.pdf_columns import in_reading_order
from knowledge.parsing.pdf_layout import PageLine, heads_table, page_lines, with_tables
from knowledge.parsing.pdf_visibility import without_invisible
from knowledge.parsing.pieces import Heading, ParsedTable, Piece, Title
from knowledge.types import Notice, NoticeCode

_PDFIUM = Lock()
"""PDFium is not thread-safe: one document at a time."""
_EDGE = 3
"""Lines at the top and at the bottom of a page that may be a running header or footer."""
_LEADER = re.compile(r"(?:[.．·…]\s?){4,}\d+\s*$")
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:第\s*)?\d{1,4}(?:\s*页)?(?:[\s/／,，共]+\d{1,4}(?:\s*页)?)?[-–—\s]*")
_MAX_DEPTH = 8
_MAX_HEADING = 60
_LARGER = 1.12
"""Times the size of the body text; a heading in the size of the body is told by its number alone."""
_MIN_COLUMN = 20
"""Em; narrower text is not wrapped: a title page, a list of names."""

_PICTURES = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
"""A page that is empty on purpose has none of these: nothing is missing from it."""
_PICTURE_DEPTH = 3
_RUNS_SHOWN = 20

Bookmarks = dict[tuple[int, str], int]
"""Heading level by page (from 1) and text without spaces."""


class PdfParser(Parser):
    """The title is the one largest line of the first page, else the file name: the metadata's title is often stale."""

    signature = b"%PDF-"

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_streams(source)
        with _PDFIUM:
            pages, pictured, bookmarks = _read(source)
        kept = in_reading_order(_without_furniture(pages))
        lines = [line for page in kept for line in page]
        if not lines:
            raise EmptyDocument(source.name, "里没有文字，可能是扫描件，请先做文字识别（OCR）")
        if wordless := tuple(number for number in pictured if not kept[number - 1]):
            yield Notice(NoticeCode.PAGES_WITHOUT_TEXT, _wordless(wordless), wordless)
        ranks = _size_ranks(lines)
        columns = _columns(lines)
        run: list[TextLine] = []
        for item in with_tables(lines):
            heading = item if isinstance(item, ParsedTable) else _heading(item, bookmarks, ranks)
            if heading is not None:
                yield from reflow(run)
                run.clear()
                yield heading
            elif isinstance(item, PageLine):
                left, right = columns[item.page, item.column]
                wide = item.column or right - left >= _MIN_COLUMN * item.size
                run.append(TextLine(item.text, bool(wide) and item.right - left >= FULL * (right - left), item.page))
        yield from reflow(run)


def _read(source: SourceFile) -> tuple[list[list[PageLine]], list[int], Bookmarks]:
    """Lines by page, the pages (from 1) that show anything but text, and the bookmarks."""
    try:
        document = pypdfium2.PdfDocument(source.content)
    except pypdfium2.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise EncryptedDocument(source.name, "有密码保护，请去掉密码后再上传") from error
        raise
    with document:
        if len(document) > source.limits.max_pages:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_pages} 页的上限，请拆分后再上传")
        pages: list[list[PageLine]] = []
        pictured: list[int] = []
        characters = 0
        for index in range(len(document)):
            page = document[index]
            text_page = page.get_textpage()
            characters += text_page.count_chars()
            if characters > source.limits.max_characters:
                raise DocumentTooLarge(source.name, f"超过 {source.limits.max_characters} 字的上限，请拆分后再上传")
            text = without_invisible(page, text_page, text_page.get_text_range())
            pages.append(page_lines(text_page, text, index + 1))
            if any(item.type in _PICTURES for item in page.get_objects(max_depth=_PICTURE_DEPTH)):
                pictured.append(index + 1)
            text_page.close()
            page.close()
        return pages, pictured, _bookmarks(document)


def _bookmarks(document: pypdfium2.PdfDocument) -> Bookmarks:
    """Levels begin at 2: a chapter does not title the document."""
    found: Bookmarks = {}
    for bookmark in document.get_toc(max_depth=_MAX_DEPTH):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (text := _squeeze(bookmark.get_title())):
            found[index + 1, text] = bookmark.level + 2
    return found


def _without_furniture(pages: list[list[PageLine]]) -> Iterator[list[PageLine]]:
    """Drops lines at the edges that return, but for numbers, on most pages, page numbers, and contents lines."""
    edges = Counter(key for page in pages for key in {_mask(line.text) for line in page[:_EDGE] + page[-_EDGE:]})
    repeated = {key for key, count in edges.items() if count >= 2 and count > len(pages) / 2}
    for page in pages:
        kept = []
        for index, (line, following) in enumerate(zip_longest(page, page[1:])):
            at_edge = index < _EDGE or index >= len(page) - _EDGE
            # The header of a table that goes on returns too, but it stands on columns.
            running = at_edge and _mask(line.text) in repeated and not (following and heads_table(line, following))
            number = len(pages) > 1 and index in (0, len(page) - 1) and _PAGE_NUMBER.fullmatch(line.text)
            if not (running or number or _LEADER.search(line.text)):
                kept.append(line)
        yield kept


def _size_ranks(lines: Sequence[PageLine]) -> dict[int, int]:
    """Heading level by rounded size for what is larger than the body; level 1 titles the document."""
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


def _heading(line: PageLine, bookmarks: Bookmarks, ranks: dict[int, int]) -> Heading | Title | None:
    level = bookmarks.get((line.page, _squeeze(line.text))) or ranks.get(round(line.size))
    if level is None or len(line.text) > _MAX_HEADING:
        return None
    return Title(line.text) if level == 1 else Heading(level, line.text, line.page)


def _columns(lines: Sequence[PageLine]) -> dict[tuple[int, int], tuple[float, float]]:
    """Left and right edge of the text of every page (column 0), and of each of its columns."""
    edges: dict[tuple[int, int], tuple[float, float]] = {}
    for line in lines:
        for place in {(line.page, 0), (line.page, line.column)}:
            left, right = edges.get(place, (line.left, line.right))
            edges[place] = min(left, line.left), max(right, line.right)
    return edges


def _wordless(pages: Sequence[int]) -> str:
    """The notice of pages without text: 第 2、4-6 页…"""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    names = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    shown = "、".join(names[:_RUNS_SHOWN]) + (" 等" if len(names) > _RUNS_SHOWN else "")
    return f"第 {shown} 页只有图片、没有文字（共 {len(pages)} 页），内容没有入库；请做文字识别（OCR）后再上传"


def _mask(line: str) -> str:
    return re.sub(r"\d+", "#", _squeeze(line))


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text)
