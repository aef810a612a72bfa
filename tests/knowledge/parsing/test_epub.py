from __future__ import annotations

import io
import zipfile

import pytest

from knowledge.blocks import Block
from knowledge.errors import BrokenDocument, EncryptedDocument, HostileDocument
from knowledge.parsing.registry import parse
from tests.knowledge.parsing.files import rezip
from tests.knowledge.parsing.offices import book

_LOCK = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData><CipherData>'
    '<CipherReference URI="{}"/></CipherData></EncryptedData></encryption>'
)


def test_chapters_come_in_the_order_of_the_spine_under_the_books_title() -> None:
    parsed = parse(
        "手册.epub",
        book({"z.xhtml": "<h1>开箱</h1><p>先充电。</p>", "a.xhtml": "<h1>保养</h1><p>勤擦拭。</p>"}, "净化器手册"),
    )
    assert parsed.title == "净化器手册"
    assert parsed.blocks == (Block("先充电。", ("开箱",)), Block("勤擦拭。", ("保养",)))


def test_a_chapter_without_a_heading_goes_on_in_the_one_before() -> None:
    parsed = parse("a.epub", book({"1.xhtml": "<h2>开箱</h2><p>甲。</p>", "2.xhtml": "<p>乙。</p><div/>"}))
    assert parsed.blocks == (Block("甲。", ("开箱",)), Block("乙。", ("开箱",)))


def test_a_book_whose_fonts_alone_are_enciphered_is_read() -> None:
    chapters = {"1.xhtml": "<p>正文。</p>"}
    fonts = {"META-INF/encryption.xml": _LOCK.format("OEBPS/font.otf")}
    assert parse("a.epub", book(chapters, extra=fonts)).blocks == (Block("正文。"),)
    locked = {"META-INF/encryption.xml": _LOCK.format("OEBPS/1.xhtml")}
    with pytest.raises(EncryptedDocument, match="版权保护"):
        parse("a.epub", book(chapters, extra=locked))


def test_an_archive_that_is_no_book_is_broken() -> None:
    whole = book({"1.xhtml": "<p>正文。</p>"})
    for entry in ("META-INF/container.xml", "OEBPS/book.opf"):
        with pytest.raises(BrokenDocument):
            parse("a.epub", rezip(whole, {entry: b"<x/>"}).replace(entry.encode(), b"?" * len(entry)))


def test_a_bomb_is_refused() -> None:
    with pytest.raises(HostileDocument, match="压缩炸弹"):
        parse("a.epub", book({"1.xhtml": "<p>正文。</p>"}, extra={"cover.bmp": "0" * (30 * 2**20)}))


def test_a_chapter_that_the_spine_names_again_is_read_once() -> None:
    whole = book({"1.xhtml": "<p>正文。</p>"})
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        package = archive.read("OEBPS/book.opf").replace(b'<itemref idref="c0"/>', b'<itemref idref="c0"/>' * 3)
    assert parse("a.epub", rezip(whole, {"OEBPS/book.opf": package})).blocks == (Block("正文。"),)


def test_contents_and_navigation_are_left_out_and_told() -> None:
    chapters = {
        "nav.xhtml": "<nav><h2>目录</h2><ol><li>开箱</li></ol></nav>",
        "1.xhtml": "<p>正文。</p><nav>上一页 下一页</nav>",
    }
    whole = book(chapters)
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        package = archive.read("OEBPS/book.opf").decode()
    marked = package.replace('href="nav.xhtml"', 'href="nav.xhtml" properties="nav"')
    parsed = parse("a.epub", rezip(whole, {"OEBPS/book.opf": marked.encode()}))
    assert parsed.blocks == (Block("正文。"),)
    assert [(notice.part, notice.characters) for notice in parsed.notices] == [("目录", 4), ("导航和页脚", 6)]
