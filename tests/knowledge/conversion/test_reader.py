from __future__ import annotations

import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import openpyxl
import pytest

from knowledge.chunking import ChunkOptions
from knowledge.conversion.office import OfficeConverter
from knowledge.conversion.reader import LegacyReader
from knowledge.errors import BrokenDocument, EmptyDocument, EncryptedDocument, ReaderMissing
from knowledge.ingest import TrustingReader
from knowledge.parsing.legacy import MODERN, LegacyParser
from knowledge.parsing.registry import LEGACY
from tests.knowledge.conversion.programs import modern, program
from tests.knowledge.parsing.offices import deck, saved

NAMES = {".doc": "WordDocument", ".xls": "Workbook", ".ppt": "PowerPoint Document"}


def old(suffix: str) -> bytes:
    """What has the form of an old file, and nothing in it."""
    return LegacyParser.signature + bytes(600) + NAMES[suffix].encode("utf-16-le") + bytes(600)


OLD = old(".doc")
OPTIONS = ChunkOptions()
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the program is a shell script")
REAL = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is optional and not installed here")


def reader(soffice: str) -> LegacyReader:
    return LegacyReader(TrustingReader(), OfficeConverter(soffice, 120, 20 * 2**20))


def gives(folder: Path, content: bytes) -> LegacyReader:
    (folder / "new").write_bytes(content)
    return reader(program(folder, f'cp {folder / "new"} "$out"'))


@POSIX
async def test_the_document_keeps_its_name(tmp_path: Path) -> None:
    found = await gives(tmp_path, modern("签收后七天内可以退货。")).read("t", "退货.DOC", OLD, OPTIONS)
    assert found.title == "退货"
    assert [chunk.text for chunk in found.chunks] == ["签收后七天内可以退货。"]
    longest = "长" * 196 + ".doc"
    assert (await gives(tmp_path, modern("退货。")).read("t", longest, OLD, OPTIONS)).chunks


@POSIX
async def test_what_is_wrong_with_the_new_file_is_said_of_the_old_one(tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument, match=r"《退货\.doc》"):
        await gives(tmp_path, modern()).read("t", "退货.doc", OLD, OPTIONS)


@pytest.mark.parametrize("suffix", sorted(LEGACY))
async def test_without_libreoffice_the_message_says_what_to_install(suffix: str) -> None:
    with pytest.raises(ReaderMissing, match=rf"《旧\{suffix}》.*apt-get install libreoffice-writer-nogui"):
        await reader("no-such-program").read("t", f"旧{suffix}", old(suffix), OPTIONS)


async def test_what_is_no_old_file_is_not_converted() -> None:
    missing = reader("no-such-program")
    assert (await missing.read("t", "a.md", "退货。".encode(), OPTIONS)).chunks
    with pytest.raises(BrokenDocument, match="新版 Word"):
        await missing.read("t", "新.doc", modern("正文"), OPTIONS)
    with pytest.raises(BrokenDocument, match="扩展名"):
        await missing.read("t", "表.doc", old(".xls"), OPTIONS)
    with pytest.raises(EncryptedDocument):
        await missing.read("t", "密.xls", OLD + "EncryptedPackage".encode("utf-16-le"), OPTIONS)


def test_every_old_suffix_has_a_new_one() -> None:
    assert set(MODERN) == set(LEGACY)


@pytest.fixture
async def office() -> AsyncIterator[OfficeConverter]:
    made = OfficeConverter("soffice", 120, 20 * 2**20)
    yield made
    await made.close()


def _sheet(folder: Path) -> bytes:
    book = openpyxl.Workbook()
    for row in (("型号", "质保"), ("H30", "两年质保"), ("H50", "三年质保")):
        book.active.append(row)
    book.save(folder / "new.xlsx")
    return (folder / "new.xlsx").read_bytes()


@REAL
@pytest.mark.parametrize("suffix", sorted(LEGACY))
async def test_libreoffice_converts(suffix: str, office: OfficeConverter, tmp_path: Path) -> None:
    new, said = {
        ".doc": (modern("签收后七天内可以退货。"), "签收后七天内可以退货。"),
        ".xls": (_sheet(tmp_path), "型号：H50；质保：三年质保"),
        ".ppt": (saved(deck(("配送", ["当天发货。"]))), "当天发货。"),
    }[suffix]
    old = await office.convert("t", "新", new, MODERN[suffix], suffix)
    found = await LegacyReader(TrustingReader(), office).read("t", f"说明{suffix}", old, OPTIONS)
    assert said in "\n".join(chunk.text for chunk in found.chunks)
    assert found.chunks[0].page == (1 if suffix == ".ppt" else None)


@REAL
@pytest.mark.parametrize("suffix", sorted(LEGACY))
async def test_libreoffice_takes_no_rubbish_for_a_text(suffix: str, office: OfficeConverter) -> None:
    with pytest.raises(BrokenDocument, match="无法转换"):
        await LegacyReader(TrustingReader(), office).read("t", f"坏{suffix}", old(suffix), OPTIONS)
