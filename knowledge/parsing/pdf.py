"""Reads PDF: without running headers and footers, wraps undone; headings by bookmark, size or number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

import pypdfium2
from pypdfium2 import raw

from knowledge.errors import DocumentTooLarge, EmptyDocument, EncryptedDocument, ScannedDocument
from knowledge.parsing.archive import check_streams
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.omissions import Omissions, format_pages
from knowledge.parsing.page_pieces import build_pieces, extract_body, remove_space
from knowledge.parsing.pdf_fields import FilledField, choose_shown, insert_fields, read_fields
from knowledge.parsing.pdf_layout import PageLine, read_page_lines
from knowledge.parsing.pdf_visibility import remove_invisible
from knowledge.parsing.pieces import Piece
from knowledge.parsing.recognition import (
    Recogniser,
    build_lines,
    build_recognised_notice,
    compute_scale,
    normalize_sizes,
)
from knowledge.types import Notice, NoticeCode

# PDFium is not thread-safe: one document at a time.
_PDFIUM = Lock()
_MAX_DEPTH = 8

# A page that is empty on purpose has none of these: nothing is missing from it.
_PICTURES = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
_PICTURE_DEPTH = 3


class PdfParser(Parser):
    """The title is the one largest line of the first page, else the file name: the title in the metadata is often
    stale.
    """

    signature = b"%PDF-"

    def _read_pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_streams(source)
        with _PDFIUM:
            read = _read_pdf(source)
        left_out = Omissions()
        kept = extract_body(read.pages, left_out)
        wordless = [number for number in read.pictured if not kept[number - 1]]
        if wordless and source.recogniser is not None:
            recognised = normalize_sizes(list(_recognise_pages(source, source.recogniser, wordless)), kept)
            for number, lines in zip(wordless, recognised, strict=True):
                read.pages[number - 1] = lines
            left_out = Omissions()
            kept = extract_body(read.pages, left_out)
            if seen := [number for number in wordless if kept[number - 1]]:
                yield build_recognised_notice(seen)
        kept = [insert_fields(lines, filled) for lines, filled in zip(kept, choose_shown(read.filled), strict=True)]
        wordless = [number for number in wordless if not kept[number - 1]]
        if not any(kept):
            raise _report_nothing(source, bool(wordless))
        if wordless:
            yield Notice(NoticeCode.PAGES_WITHOUT_TEXT, _build_wordless_notice(wordless, source), tuple(wordless))
        yield from build_pieces(kept, read.bookmarks)
        yield from read.left_out.build_notices()
        yield from left_out.build_notices()


@dataclass(frozen=True, slots=True)
class _PdfContent:
    """What was read: lines and filled fields by page, pages (from 1) that show more than text, bookmarks, and
    annotations.
    """

    pages: list[list[PageLine]] = field(default_factory=list)
    filled: list[list[FilledField]] = field(default_factory=list)
    pictured: list[int] = field(default_factory=list)
    left_out: Omissions = field(default_factory=Omissions)
    bookmarks: dict[tuple[int, str], int] = field(default_factory=dict)


def _report_nothing(source: SourceFile, pictured: bool) -> EmptyDocument:
    if not pictured:
        return EmptyDocument(source.name, "里没有文字，也没有图片")
    if source.recogniser is not None:
        return EmptyDocument(source.name, "是扫描件，文字识别没有认出文字")
    return ScannedDocument(source.name, "是扫描件，要做文字识别（OCR）才能读出文字")


def _recognise_pages(source: SourceFile, recogniser: Recogniser, numbers: Sequence[int]) -> Iterator[list[PageLine]]:
    """Yields the lines of pages (from 1) that are pictures."""
    if len(numbers) > (most := source.limits.max_recognised_pages):
        raise DocumentTooLarge(source.name, f"要做文字识别的页超过 {most} 页的上限，请拆分后再上传")
    for number in numbers:
        with _PDFIUM, pypdfium2.PdfDocument(source.content) as document:
            page = document[number - 1]
            scale = compute_scale(*page.get_size())
            picture = page.render(scale=scale).to_numpy()[:, :, :3].copy()
            page.close()
        yield build_lines(recogniser.recognise_texts(picture), number, scale)


def _read_pdf(source: SourceFile) -> _PdfContent:
    try:
        document = pypdfium2.PdfDocument(source.content)
    except pypdfium2.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise EncryptedDocument(source.name, "有密码保护，请去掉密码后再上传") from error
        raise
    with document:
        if len(document) > source.limits.max_pages:
            raise DocumentTooLarge(source.name, f"超过 {source.limits.max_pages} 页的上限，请拆分后再上传")
        document.init_forms()
        read = _PdfContent()
        characters = 0
        for index in range(len(document)):
            page = document[index]
            text_page = page.get_textpage()
            characters += text_page.count_chars()
            if characters > source.limits.max_characters:
                raise DocumentTooLarge(source.name, f"超过 {source.limits.max_characters} 字的上限，请拆分后再上传")
            text = remove_invisible(page, text_page, text_page.get_text_range())
            lines = read_page_lines(text_page, text, index + 1)
            read.pages.append(lines)
            read.filled.append(read_fields(document, page, lines, index + 1, read.left_out))
            if any(item.type in _PICTURES for item in page.get_objects(max_depth=_PICTURE_DEPTH)):
                read.pictured.append(index + 1)
            text_page.close()
            page.close()
        read.bookmarks.update(_read_bookmarks(document))
        return read


def _read_bookmarks(document: pypdfium2.PdfDocument) -> Iterator[tuple[tuple[int, str], int]]:
    """Yields the bookmarks with their levels, which begin at 2: a chapter does not title the document."""
    for bookmark in document.get_toc(max_depth=_MAX_DEPTH):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (text := remove_space(bookmark.get_title())):
            yield (index + 1, text), bookmark.level + 2


def _build_wordless_notice(pages: Sequence[int], source: SourceFile) -> str:
    """Returns the notice about pages without text: 第 2、4-6 页…"""
    why = "，也没有认出文字" if source.recogniser else ""
    return f"第 {format_pages(pages)} 页只有图片、没有文字（共 {len(pages)} 页）{why}，内容没有入库"
