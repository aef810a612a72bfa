from __future__ import annotations

import io

import pytest
from PIL import Image

from knowledge.errors import (
    BrokenDocument,
    DocumentTooLarge,
    EmptyDocument,
    HostileDocument,
    InvalidDocument,
    UnsupportedType,
)
from knowledge.parsing.attachment import LONGEST_SIDE, inspect_attachment
from knowledge.parsing.limits import ParsingLimits
from tests.app.attachments.pictures import PDF, SCRIPT, SVG, huge_png, jpeg, office, png

LIMITS = ParsingLimits(max_bytes=2**20)


def test_a_photograph_is_upright_and_says_nothing_of_where_it_was_taken() -> None:
    content = jpeg(place="家住幸福路 1 号", comment=b"secret comment")
    found = inspect_attachment("IMG_1.HEIC.jpg", content, LIMITS)
    assert (found.media_type, found.width, found.height) == ("image/jpeg", 480, 640)
    kept = Image.open(io.BytesIO(found.picture))
    assert not kept.getexif() and "comment" not in kept.info and "icc_profile" not in kept.info
    for secret in ("幸福路".encode(), b"Exif", b"secret"):
        assert secret not in found.picture


def test_nothing_that_hides_in_a_picture_is_left() -> None:
    for content in (png(text=SCRIPT.decode()) + SCRIPT, jpeg(comment=SCRIPT) + office() + SCRIPT, _gif() + SCRIPT):
        found = inspect_attachment("截图.png", content, LIMITS)
        assert found.picture and SCRIPT not in found.picture and b"PK\x03\x04" not in found.picture


def test_a_large_picture_becomes_small_enough_to_show() -> None:
    found = inspect_attachment("照片.jpg", jpeg((6000, 3000)), LIMITS)
    assert (found.width, found.height) == (LONGEST_SIDE, LONGEST_SIDE // 2)


def test_a_clear_screenshot_stays_lossless() -> None:
    assert inspect_attachment("截图.png", png(), LIMITS).media_type == "image/png"


def name_of(value: object) -> str | None:
    """Of a case; bytes that hold the hour they were made at have none of their own."""
    return "content" if isinstance(value, bytes) else None


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("logo.svg", SVG, UnsupportedType),
        ("logo.png", SVG, UnsupportedType),
        ("page.html", b"<html>" + SCRIPT, UnsupportedType),
        ("page.jpg", b"<html>" + SCRIPT, UnsupportedType),
        ("no extension", SCRIPT, UnsupportedType),
        ("a.exe", b"MZ\x90", UnsupportedType),
        ("macros.docm", office("word/document.xml", "word/vbaProject.bin"), UnsupportedType),
        ("macros.docx", office("word/document.xml", "word/vbaProject.bin"), UnsupportedType),
        ("photo.heic", b"\0\0\0\x18ftypheic" + bytes(40), UnsupportedType),
        ("book.pdf", jpeg(), BrokenDocument),
        ("letter.docx", office("xl/workbook.xml"), BrokenDocument),
        ("letter.docx", b"PK\x03\x04" + bytes(40), BrokenDocument),
        ("notes.txt", b"\0\1\2", BrokenDocument),
        ("scan.pdf", b"<html>" + SCRIPT, BrokenDocument),
        ("song.mp3", PDF, BrokenDocument),
        ("cut.jpg", jpeg()[:2000], BrokenDocument),
        ("bomb.png", huge_png(30_000, 30_000), HostileDocument),
        ("bomb.docx", office(size=210 * 2**20), HostileDocument),
        ("huge.jpg", bytes(2**20 + 1), DocumentTooLarge),
        ("nothing.png", b"", EmptyDocument),
    ],
    ids=name_of,
)
def test_what_is_not_what_it_says_is_refused(name: str, content: bytes, error: type[InvalidDocument]) -> None:
    with pytest.raises(error):
        inspect_attachment(name, content, LIMITS)


def test_a_picture_that_promises_more_than_it_holds_costs_nothing() -> None:
    with pytest.raises(BrokenDocument):
        inspect_attachment("short.png", huge_png(5000, 5000), LIMITS)


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("发票.pdf", PDF, "application/pdf"),
        ("表.xlsx", office("xl/workbook.xml"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        ("日志.TXT", "错误 E-1024".encode("gb18030"), "text/plain"),
        ("表.csv", b"\xef\xbb\xbfa,b\n", "text/csv"),
        ("故障.mp4", b"\0\0\0\x18ftypisom" + bytes(20), "video/mp4"),
        ("故障.mov", b"\0\0\0\x14ftypqt  " + bytes(20), "video/quicktime"),
        ("语音.amr", b"#!AMR\n" + bytes(20), "audio/amr"),
    ],
    ids=name_of,
)
def test_files_are_kept_as_they_are(name: str, content: bytes, media_type: str) -> None:
    found = inspect_attachment(name, content, LIMITS)
    assert (found.media_type, found.picture, found.width) == (media_type, b"", 0)


def _gif() -> bytes:
    kept = io.BytesIO()
    Image.new("P", (20, 20)).save(kept, "GIF", comment=SCRIPT)
    return kept.getvalue()
