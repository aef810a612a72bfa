from __future__ import annotations

import pytest

from knowledge.chunking import ChunkOptions
from knowledge.errors import CostlyDocument, InvalidDocument, ReaderMissing, ScannedDocument
from knowledge.extraction import ReadDocument
from knowledge.ingest import TrustingReader
from knowledge.sandbox import scans
from knowledge.sandbox.scans import ScanReader
from knowledge.types import FaqColumns, NoticeCode
from tests.knowledge.parsing.files import page, pdf
from tests.knowledge.recognition.scanned import PHOTO

MIXED = pdf(page("第一页的话。"), [], scanned=[1])
OPTIONS = ChunkOptions()


class Reads(TrustingReader):
    """A reader in this process; `fails` instead of reading where it is given."""

    def __init__(self, fails: InvalidDocument | None = None) -> None:
        super().__init__()
        self.fails = fails
        self.files = 0

    async def read(
        self, tenant: str, name: str, content: bytes, options: ChunkOptions, columns: FaqColumns | None = None
    ) -> ReadDocument:
        self.files += 1
        if self.fails:
            raise self.fails
        return await super().read(tenant, name, content, options, columns)


async def test_a_file_with_text_on_every_page_is_looked_at_once() -> None:
    second = Reads()
    await ScanReader(Reads(), second).read("t", "a.pdf", pdf(page("正文。")), OPTIONS)
    assert second.files == 0


async def test_the_second_look_gives_what_is_read() -> None:
    second = Reads()
    for name, content in (("合同.pdf", MIXED), ("照片.png", PHOTO)):
        second.fails = CostlyDocument(name, "")
        with pytest.raises(InvalidDocument):
            await ScanReader(Reads(ScannedDocument(name, "")), second).read("t", name, content, OPTIONS)
    assert second.files == 2


async def test_what_was_read_stays_where_the_second_look_fails() -> None:
    found = await ScanReader(Reads(), Reads(CostlyDocument("合同.pdf", "太久"))).read("t", "合同.pdf", MIXED, OPTIONS)
    assert [chunk.text for chunk in found.chunks] == ["第一页的话。"]
    assert [notice.code for notice in found.notices] == [NoticeCode.PAGES_WITHOUT_TEXT, NoticeCode.PARTS_NOT_READ]
    assert "太久" in found.notices[1].message


async def test_without_the_package_a_scan_is_refused_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scans, "is_installed", lambda: False)
    reader = ScanReader(Reads(), Reads())
    with pytest.raises(ReaderMissing, match=r"《照片\.png》.*pip install -r requirements-ocr\.txt"):
        await reader.read("t", "照片.png", PHOTO, OPTIONS)
    found = await reader.read("t", "合同.pdf", MIXED, OPTIONS)
    assert "pip install -r requirements-ocr.txt" in found.notices[-1].message


async def test_where_nothing_is_to_be_recognised_a_scan_is_refused_as_one() -> None:
    with pytest.raises(ScannedDocument):
        await ScanReader(Reads(), None).read("t", "照片.png", PHOTO, OPTIONS)
