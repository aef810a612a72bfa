"""Office files under the suffix of another format: everybody who sends one is told the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import docx
import pytest

from app.evaluation import transfer as evaluation
from app.faqs import transfer as faqs
from app.hit_test import batch
from app.http.sheets import SheetReader
from app.vocabulary import transfer as vocabulary
from knowledge.errors import BrokenDocument, EncryptedDocument, ReaderMissing
from knowledge.parsing.registry import parse
from tests.knowledge.parsing.files import rezip, word
from tests.knowledge.parsing.offices import book, deck, saved
from tests.sheets import build_workbook, read_here

OLD = {".doc": "WordDocument", ".xls": "Workbook", ".ppt": "PowerPoint Document"}


def old(*streams: str) -> bytes:
    """An OLE file with these streams in its directory, as far as anybody looks."""
    directory = b"".join(stream.encode("utf-16-le").ljust(128, b"\0") for stream in ("Root Entry", *streams))
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + directory + bytes(512)


def new() -> dict[str, bytes]:
    document = docx.Document()
    document.add_paragraph("七天内可以退货。")
    return {
        ".docx": word(document),
        ".xlsx": build_workbook({"表": [["问题", "答案"], ["能退吗", "可以"]]}),
        ".pptx": saved(deck(("退货", ["七天内可以退货。"]))),
    }


@pytest.mark.parametrize("kind", OLD)
def test_an_old_file_under_a_new_suffix_is_called_what_it_is_with_the_way_out(kind: str) -> None:
    for suffix in (f"{kind}x", ".csv", ".txt", ".md", ".pdf"):
        with pytest.raises(BrokenDocument) as caught:
            parse(f"资料{suffix}", old(OLD[kind]))
        told = str(caught.value)
        assert f"（{kind}），只是扩展名写成了 {suffix}" in told and f"另存为 {kind}x" in told and "旧版" in told


@pytest.mark.parametrize("kind", OLD)
def test_a_new_file_under_an_old_suffix_or_of_another_program_is_called_what_it_is(kind: str) -> None:
    for suffix in {*OLD, *(f"{one}x" for one in OLD), ".csv"} - {f"{kind}x"}:
        with pytest.raises(BrokenDocument) as caught:
            parse(f"资料{suffix}", new()[f"{kind}x"])
        assert f"（{kind}x），只是扩展名写成了 {suffix}：请把扩展名改为 {kind}x" in str(caught.value)


def test_files_under_their_own_suffix_are_read_and_what_they_hold_does_not_matter() -> None:
    made = new()
    for suffix, content in made.items():
        assert parse(f"资料{suffix}", content).title
        inside = rezip(content, {f"embedded/{other}": each for other, each in made.items() if other != suffix})
        assert parse(f"资料{suffix}", inside).title
    with pytest.raises(ReaderMissing):
        parse("资料.xls", old("Workbook", "WordDocument"))
    bound = book({"a.xhtml": "<p>七天内可以退货。</p>"}, extra={"xl/workbook.xml": "", "word/document.xml": ""})
    assert parse("资料.epub", bound).blocks
    with pytest.raises(EncryptedDocument):
        parse("资料.xlsx", old("EncryptedPackage"))


IMPORTS: dict[str, Callable[[bytes, SheetReader], Awaitable[object]]] = {
    "faqs": faqs.read_faqs,
    "hit test": partial(batch.read_questions, decide=False),
    "vocabulary": vocabulary.read,
    "evaluation": evaluation.read_file,
}


@pytest.mark.parametrize("read", IMPORTS.values(), ids=IMPORTS)
async def test_imports_of_tables_tell_the_same(read: Callable[[bytes, SheetReader], Awaitable[object]]) -> None:
    for content, kind in ((old("Workbook"), ".xls"), (old("WordDocument"), ".doc"), (new()[".docx"], ".docx")):
        with pytest.raises(BrokenDocument, match=f"其实是.*（\\{kind}），这里只读 CSV 和 XLSX：请.*另存为 .xlsx"):
            await read(content, read_here)
