"""Pictures, read by a recogniser that tells what it was shown."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from knowledge.errors import (
    BrokenDocument,
    DocumentTooLarge,
    EmptyDocument,
    HostileDocument,
    InvalidDocument,
    ScannedDocument,
)
from knowledge.parsing.limits import ParsingLimits
from knowledge.parsing.recognition import LONGEST_SIDE, RecognisedText
from knowledge.parsing.registry import PICTURES, parse
from knowledge.types import NoticeCode
from tests.knowledge.parsing.files import damaged, page, pdf

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Pixels


class Told:
    """Says the size of each picture and the brightness of its first pixel; nothing of a black one."""

    def recognise_texts(self, picture: Pixels) -> Sequence[RecognisedText]:
        height, width, _ = picture.shape
        if not picture.any():
            return []
        return [
            RecognisedText(
                f"{width}x{height} {picture[0, 0].tolist()} {'甲乙丙丁'[width // 20 % 4]}。", 10, 900, 20, 34, 0
            )
        ]


def picture(kind: str, size: tuple[int, int] = (40, 30), colour: Any = (200, 100, 0), **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.new(options.pop("mode", "RGB"), size, colour).save(buffer, kind, **options)
    return buffer.getvalue()


SAMPLES = {
    ".png": picture("PNG"), ".jpg": picture("JPEG"), ".jpeg": picture("JPEG"), ".tif": picture("TIFF"),
    ".tiff": picture("TIFF"), ".bmp": picture("BMP"), ".webp": picture("WEBP"),
}  # fmt: skip


def test_every_kind_of_picture_has_a_sample() -> None:
    assert set(SAMPLES) == set(PICTURES)


@pytest.mark.parametrize("suffix", sorted(PICTURES))
def test_a_picture_is_read_where_somebody_can(suffix: str) -> None:
    parsed = parse(f"图{suffix}", SAMPLES[suffix], recogniser=Told())
    assert parsed.blocks[0].text.startswith("40x30")
    assert parsed.blocks[0].page is None
    assert parsed.notices[0].code is NoticeCode.RECOGNISED
    with pytest.raises(ScannedDocument, match="文字识别"):
        parse(f"图{suffix}", SAMPLES[suffix])


@pytest.mark.parametrize("suffix", sorted(PICTURES))
def test_damage_leads_to_a_document_or_to_an_invalid_document(suffix: str) -> None:
    with pytest.raises(BrokenDocument):
        parse(f"图{suffix}", b"%PDF-1.4 ...", recogniser=Told())
    for content in damaged(SAMPLES[suffix], range(20)):
        try:
            assert parse(f"图{suffix}", content, recogniser=Told()).blocks
        except InvalidDocument as error:
            assert f"图{suffix}" in str(error)


def test_a_picture_is_shown_upright_on_white_and_not_too_large() -> None:
    def seen(content: bytes) -> str:
        return parse("a.png", content, recogniser=Told()).blocks[0].text

    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    assert seen(picture("JPEG", exif=exif)).startswith("30x40")
    assert seen(picture("PNG", mode="RGBA", colour=(0, 0, 0, 0))).startswith("40x30 [255, 255, 255]")
    assert seen(picture("PNG", size=(4000, 1000))).startswith(f"{LONGEST_SIDE}x500")
    assert seen(picture("PNG", mode="I;16", colour=40000)).startswith("40x30")


def test_pages_of_a_tiff_are_pages() -> None:
    frames = [Image.new("RGB", size, (9, 9, 9)) for size in ((40, 30), (60, 30))]
    buffer = io.BytesIO()
    frames[0].save(buffer, "TIFF", save_all=True, append_images=frames[1:])
    parsed = parse("传真.tiff", buffer.getvalue(), recogniser=Told())
    assert [(block.text[:5], block.page) for block in parsed.blocks] == [("40x30", 1), ("60x30", 2)]
    with pytest.raises(DocumentTooLarge, match="1 页的上限"):
        parse("传真.tiff", buffer.getvalue(), ParsingLimits(max_recognised_pages=1), recogniser=Told())


def test_a_picture_that_unfolds_to_too_much_is_refused_before_it_does() -> None:
    head = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    whole = SAMPLES[".png"]
    bomb = whole[:12] + head + struct.pack(">I", zlib.crc32(head)) + whole[33:]
    for content, limits in ((bomb, ParsingLimits()), (whole, ParsingLimits(max_pixels=1000))):
        with pytest.raises(HostileDocument, match="百万像素"):
            parse("炸弹.png", content, limits, recogniser=Told())


def test_a_picture_without_words_is_empty() -> None:
    with pytest.raises(EmptyDocument, match="没有认出文字"):
        parse("黑.png", picture("PNG", colour=(0, 0, 0)), recogniser=Told())


def test_only_the_pages_of_a_pdf_without_text_are_recognised() -> None:
    content = pdf(page("第一页的话。"), [], page("第三页的话。"), [], scanned=[1])
    parsed = parse("合同.pdf", content, recogniser=Told())
    assert [block.page for block in parsed.blocks] == [1, 2, 3]
    (notice,) = parsed.notices
    assert (notice.code, notice.pages) == (NoticeCode.RECOGNISED, (2,))
    assert parse("合同.pdf", content).notices[0].code is NoticeCode.PAGES_WITHOUT_TEXT


def test_a_pdf_of_more_scanned_pages_than_may_be_recognised_is_refused() -> None:
    content = pdf(*[[]] * 3, scanned=range(3))
    with pytest.raises(DocumentTooLarge, match="2 页的上限"):
        parse("扫描.pdf", content, ParsingLimits(max_recognised_pages=2), recogniser=Told())
    with pytest.raises(ScannedDocument):
        parse("扫描.pdf", content)
