"""PDF: pages without running headers and footers, hard wraps undone; headings by bookmark, size or number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock

import pypdfium2
from pypdfium2 import raw

from knowledge.errors import DocumentTooLarge, EmptyDocument, EncryptedDocument, ScannedDocument
from knowledge.parsing.archive import check_streams
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.page_pieces import Bookmarks, body, pieces_of, squeezed
from knowledge.parsing.pdf_layout import PageLine, page_lines
from knowledge.parsing.pdf_visibility import without_invisible
from knowledge.parsing.pieces import Piece
from knowledge.parsing.recognition import Recogniser, evened, recognised_lines, recognised_notice, scale_to
from knowledge.types import Notice, NoticeCode

_PDFIUM = Lock()
"""PDFium is not thread-safe: one document at a time."""
_MAX_DEPTH = 8

_PICTURES = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING)
"""A page that is empty on purpose has none of these: nothing is missing from it."""
_PICTURE_DEPTH = 3
_RUNS_SHOWN = 20


class PdfParser(Parser):
    """The title is the one largest line of the first page, else the file name: the metadata's title is often stale."""

    signature = b"%PDF-"

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        check_streams(source)
        with _PDFIUM:
            pages, pictured, bookmarks = _read(source)
        kept = body(pages)
        wordless = [number for number in pictured if not kept[number - 1]]
        if wordless and source.recogniser is not None:
            recognised = evened(list(_recognised(source, source.recogniser, wordless)), kept)
            for number, lines in zip(wordless, recognised, strict=True):
                pages[number - 1] = lines
            kept = body(pages)
            if seen := [number for number in wordless if kept[number - 1]]:
                yield recognised_notice(seen)
            wordless = [number for number in wordless if not kept[number - 1]]
        if not any(kept):
            raise _nothing(source, bool(wordless))
        if wordless:
            yield Notice(NoticeCode.PAGES_WITHOUT_TEXT, _wordless(wordless, source), tuple(wordless))
        yield from pieces_of(kept, bookmarks)


def _nothing(source: SourceFile, pictured: bool) -> EmptyDocument:
    if not pictured:
        return EmptyDocument(source.name, "里没有文字，也没有图片")
    if source.recogniser is not None:
        return EmptyDocument(source.name, "是扫描件，文字识别没有认出文字")
    return ScannedDocument(source.name, "是扫描件，要做文字识别（OCR）才能读出文字")


def _recognised(source: SourceFile, recogniser: Recogniser, numbers: Sequence[int]) -> Iterator[list[PageLine]]:
    """Lines of pages (from 1) that are pictures."""
    if len(numbers) > (most := source.limits.max_recognised_pages):
        raise DocumentTooLarge(source.name, f"要做文字识别的页超过 {most} 页的上限，请拆分后再上传")
    for number in numbers:
        with _PDFIUM, pypdfium2.PdfDocument(source.content) as document:
            page = document[number - 1]
            scale = scale_to(*page.get_size())
            picture = page.render(scale=scale).to_numpy()[:, :, :3].copy()
            page.close()
        yield recognised_lines(recogniser.texts(picture), number, scale)


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
    found: dict[tuple[int, str], int] = {}
    for bookmark in document.get_toc(max_depth=_MAX_DEPTH):
        target = bookmark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (text := squeezed(bookmark.get_title())):
            found[index + 1, text] = bookmark.level + 2
    return found


def _wordless(pages: Sequence[int], source: SourceFile) -> str:
    """The notice of pages without text: 第 2、4-6 页…"""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    names = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    shown = "、".join(names[:_RUNS_SHOWN]) + (" 等" if len(names) > _RUNS_SHOWN else "")
    why = "，也没有认出文字" if source.recogniser else ""
    return f"第 {shown} 页只有图片、没有文字（共 {len(pages)} 页）{why}，内容没有入库"
