"""PDF: pages without running headers and footers, hard wraps undone, bookmarks and numbered lines as headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from threading import Lock

import pypdfium2
from pypdfium2 import raw

from knowledge.errors import DocumentTooLarge, EmptyDocument, EncryptedDocument
from knowledge.parsing.base import Parser, Source
from knowledge.parsing.lines import Line, reflow, width
from knowledge.parsing.pieces import Heading, Piece

_PDFIUM = Lock()
"""PDFium is not thread-safe: one document at a time."""
_EDGE = 3
"""Lines at the top and at the bottom of a page that may be a running header or footer."""
_LEADER = re.compile(r"[.．·…]{4,}\s*\d+\s*$|(?:\s[.．·…]){4,}\s*\d+\s*$")
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:第\s*)?\d{1,4}(?:\s*页)?(?:[\s/／,，共]+\d{1,4}(?:\s*页)?)?[-–—\s]*")
_MAX_TOC_DEPTH = 9

Bookmarks = dict[tuple[int, str], int]
"""Heading level by page (from 1) and text without spaces."""


class PdfParser(Parser):
    """The title is the file name: what PDF metadata call title is mostly a leftover of a template."""

    signature = b"%PDF-"

    def _pieces(self, source: Source) -> Iterator[Piece]:
        with _PDFIUM:
            pages, bookmarks = _read(source)
        pages = _without_furniture(pages)
        if not any(pages):
            raise EmptyDocument(source.name, "里没有文字，可能是扫描件，请先做文字识别（OCR）")
        run: list[Line] = []
        for number, page in enumerate(pages, start=1):
            column = max(map(width, page), default=0)
            for text in page:
                level = bookmarks.get((number, _squeeze(text)))
                if level is None:
                    run.append(Line(text, column, number))
                    continue
                yield from reflow(run)
                run.clear()
                yield Heading(level, text, number)
        yield from reflow(run)


def _read(source: Source) -> tuple[list[list[str]], Bookmarks]:
    try:
        document = pypdfium2.PdfDocument(source.content)
    except pypdfium2.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise EncryptedDocument(source.name, "有密码保护，请去掉密码后再上传") from error
        raise
    with document:
        if len(document) > source.limits.max_pages:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_pages} 页的上限，请拆分后再上传")
        pages = []
        characters = 0
        for index in range(len(document)):
            page = document[index]
            text_page = page.get_textpage()
            text = text_page.get_text_bounded()
            text_page.close()
            page.close()
            characters += len(text)
            if characters > source.limits.max_characters:
                raise DocumentTooLarge(source.name, f"超过 {source.limits.max_characters} 字的上限，请拆分后再上传")
            pages.append([line.strip() for line in text.splitlines() if line.strip()])
        return pages, _bookmarks(document)


def _bookmarks(document: pypdfium2.PdfDocument) -> Bookmarks:
    """Levels begin at 2: a chapter does not title the document."""
    found: Bookmarks = {}
    for bookmark in document.get_toc(max_depth=_MAX_TOC_DEPTH):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (text := _squeeze(bookmark.get_title())):
            found[index + 1, text] = bookmark.level + 2
    return found


def _without_furniture(pages: list[list[str]]) -> list[list[str]]:
    """Drops lines at the edges that return, but for numbers, on most pages, page numbers, and contents lines."""
    edges = Counter(key for page in pages for key in {_mask(line) for line in page[:_EDGE] + page[-_EDGE:]})
    repeated = {key for key, count in edges.items() if count >= 2 and count > len(pages) / 2}
    kept = []
    for page in pages:
        lines = []
        for index, line in enumerate(page):
            at_edge = index < _EDGE or index >= len(page) - _EDGE
            numbers = len(pages) > 1 and index in (0, len(page) - 1) and _PAGE_NUMBER.fullmatch(line)
            if not ((at_edge and _mask(line) in repeated) or numbers or _LEADER.search(line)):
                lines.append(line)
        kept.append(lines)
    return kept


def _mask(line: str) -> str:
    return re.sub(r"\d+", "#", _squeeze(line))


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text)
