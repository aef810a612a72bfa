"""Pictures and scans (PNG, JPEG, TIFF, BMP, WebP): what is written in them, where a recogniser is at hand."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageOps, ImageSequence

from knowledge.errors import BrokenDocument, DocumentTooLarge, EmptyDocument, HostileDocument, ScannedDocument
from knowledge.parsing.base import Parser, SourceFile
from knowledge.parsing.left_out import LeftOut
from knowledge.parsing.page_pieces import body, pieces_of
from knowledge.parsing.pieces import Heading, ParsedTable, Piece, TextPiece
from knowledge.parsing.recognition import LONGEST_SIDE, evened, recognised_lines, recognised_notice, scale_to

if TYPE_CHECKING:
    from knowledge.parsing.recognition import Pixels

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
_SIGNATURES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"BM", b"RIFF")


class PictureParser(Parser):
    """A picture is a page; a TIFF may have several."""

    def _check_signature(self, source: SourceFile) -> None:
        if not source.content.startswith(_SIGNATURES):
            raise BrokenDocument(source.name, "的内容与扩展名不符，或文件开头已损坏")

    def _pieces(self, source: SourceFile) -> Iterator[Piece]:
        if source.recogniser is None:
            raise ScannedDocument(source.name, "是图片，要做文字识别（OCR）才能读出文字")
        with _opened(source) as image:
            count = getattr(image, "n_frames", 1)
            if count > source.limits.max_recognised_pages:
                most = source.limits.max_recognised_pages
                raise DocumentTooLarge(source.name, f"要做文字识别的页超过 {most} 页的上限，请拆分后再上传")
            pages = []
            for number, frame in enumerate(islice(ImageSequence.Iterator(image), count), start=1):
                pixels = pixels_of(source, frame)
                pages.append(recognised_lines(source.recogniser.texts(pixels), number))
        left_out = LeftOut()
        kept = body(evened(pages), left_out)
        if not any(kept):
            raise EmptyDocument(source.name, "里没有认出文字")
        yield recognised_notice([number for number, page in enumerate(kept, start=1) if page])
        for piece in pieces_of(kept, {}):
            if count == 1 and isinstance(piece, Heading | TextPiece | ParsedTable):
                yield replace(piece, page=None)
            else:
                yield piece
        yield from left_out.notices()


def _opened(source: SourceFile) -> Image.Image:
    """Nothing but the head is read. Raises HostileDocument, and what Pillow raises on broken input."""
    try:
        return Image.open(io.BytesIO(source.content), formats=_FORMATS)
    except Image.DecompressionBombError as error:
        raise _huge(source) from error


def _huge(source: SourceFile) -> HostileDocument:
    return HostileDocument(source.name, f"的图片超过 {source.limits.max_pixels // 10**6} 百万像素，已拒绝")


def pixels_of(source: SourceFile, image: Image.Image) -> Pixels:
    """Upright, on white, of a bounded size. Raises HostileDocument before it is unpacked where it is huge."""
    width, height = image.size
    if width * height > source.limits.max_pixels:
        raise _huge(source)
    scale = scale_to(width, height)
    if scale < 1:
        image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # of a JPEG: unpacks no more than that
    upright = ImageOps.exif_transpose(image)
    if "A" in upright.getbands() or "transparency" in upright.info:
        layer = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    flat = upright.convert("RGB")
    if scale < 1:
        flat.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return np.ascontiguousarray(np.asarray(flat)[:, :, ::-1])
